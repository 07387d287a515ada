/*
 * A site whose rules are TeardownRules in the API, with what a test has in its hands there: rules, objects, and a function that
 * the test plays. Used by end-to-end tests about rules; which bridges run is theirs to say.
 */
import { built } from './built.ts';
import { type SiteOptions, startSite, type TestSite } from './site.ts';
import { type Hands, handsOf } from './site-hands.ts';
import { queuesOf } from './site-queues.ts';
import { type SiteRules, siteRulesOf } from './site-rules.ts';
import { type Things, thingsOf } from './site-things.ts';

/** The site and its hands. */
export interface RuleSite {
  readonly site: TestSite;
  readonly rules: SiteRules;
  readonly things: Things;
  /** Plays the function of the handler `by-hand`. */
  readonly hands: Hands;
  /** Takes all rules away and stops the site. */
  stop(): Promise<void>;
}

/** Starts a site and installs the definition of rules; with the handler `by-hand` alone unless others are told. */
export function startRuleSite(options: SiteOptions): Promise<RuleSite> {
  return built(async (stack) => {
    const site = await startSite({ handlers: ['by-hand'], ...options });
    stack.defer(() => site.stop());
    const rules = siteRulesOf(site);
    await rules.install();
    stack.defer(() => rules.removeAll());
    const hands = handsOf(site, queuesOf(site), 'by-hand');
    return { site, rules, things: thingsOf(site), hands, stop: () => stack.disposeAsync() };
  });
}
