/*
 * Who sent a message, by what the queue itself says (SenderId): a user's id, or `<roleId>:<session>` for a role.
 * Both sides compare it with their own configuration: the bridge's inbox for results, the functions' guards for requests.
 */

/** Whether a SenderId is the configured one: equal, or a session of the configured role id. */
export function isSender(senderId: string, configured: string): boolean {
  return senderId === configured || (!configured.includes(':') && senderId.startsWith(`${configured}:`));
}
