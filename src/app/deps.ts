/** The parts that one process makes once and passes to all rooms. */

import type { Config } from '../config/config.ts';
import type { Clock, RandomBytes } from '../domain/clock.ts';
import type { Pricing } from '../domain/pricing/pricing.ts';
import type { RootKeys } from '../domain/secrets.ts';
import type { Store } from '../domain/store.ts';
import type { Log } from './outage-log.ts';

export type Deps = {
  readonly config: Config;
  readonly store: Store;
  readonly rootKeys: RootKeys;
  readonly pricing: Pricing;
  readonly clock: Clock;
  /** The present for what may be erased by its age; see retention-clock.ts. */
  readonly retentionNowMs: () => number;
  readonly random: RandomBytes;
  readonly log: Log;
};
