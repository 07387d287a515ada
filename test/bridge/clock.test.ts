/*
 * The machine's clock: what is overdue is run at once, and nothing is said of it on standard error, where people read what a
 * command says. The only tests over the real clock; all others are given one that they move by hand.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { realClock } from '../../bridge/clock.ts';

describe('the real clock', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([-9_007.5, Number.NEGATIVE_INFINITY, 0])(
    'runs at once and without a warning what is due in %s ms',
    async (ms) => {
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});

      await new Promise<void>((resolve) => void realClock.after(ms, resolve));

      expect(warned).not.toHaveBeenCalled();
    },
  );
});
