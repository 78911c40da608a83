/** The store: three ports, and what they have in common. */

import type { Log } from './events/log-port.ts';
import type { ClockStore } from './management/clock-store.ts';
import type { Management } from './management/management-port.ts';
import type { StoreUsage } from './management/store-usage.ts';
import type { Telemetry } from './traces/telemetry-port.ts';

export type Store = Management &
  Log &
  Telemetry & {
    readonly clock: ClockStore;
    /** The kind of database, for operators. */
    readonly kind: 'sqlite' | 'postgres';
    /** Whether no other process can have the database open: then all changes are made through this store. */
    readonly isSingleProcess: boolean;
    /** What a driver does in the background of its own accord. */
    readonly upkeep: readonly Upkeep[];
    /** What the database and the connections to it hold now. */
    usage(): Promise<StoreUsage>;
    /** Resolves when the store can read and write; MUST throw the unavailable Fault otherwise. */
    ready(): Promise<void>;
    /** MUST finish every accepted write, then release every file and thread. */
    close(): Promise<void>;
  };

/** Work that makes reads faster or the database smaller; no answer may depend on it. */
export type Upkeep = {
  readonly name: string;
  /** Does some of it. `done`: too little is left to be worth a step. */
  step(): Promise<'more' | 'done'>;
  /** Milliseconds for which what waits longest in the whole database has been due, 0: nothing is; absent: the work has no appointed time. */
  readonly lateMs?: () => Promise<number>;
};
