/*
 * The door between serverless.yml and registry.ts: the framework loads CommonJS only.
 * All that is deployed comes from here; another registry file is named by { registry: 'other.ts' } beside the folder.
 */
module.exports = async (framework) => {
  const { serverless } = await import('finalizer-bridge/infra');
  return await serverless(framework, { folder: __dirname });
};
