/** What is stored about the time, by which retention goes. */

export type ClockStore = {
  /** The time, which MUST be by the clock that dates events; null where that is the clock of this process. */
  nowMs(): Promise<number | null>;
  instants(): Promise<StoredInstants>;
  /** Stores an instant that is certain to have come. Nothing, on a database without an organization. */
  trust(atMs: number): Promise<void>;
};

export type StoredInstants = {
  /** The instant that was stored last as certain; null: none was. */
  readonly trustedAtMs: number | null;
  /** When the newest event was created or a project key last used; null: there is none. */
  readonly newestAtMs: number | null;
  /** When the newest event was created; null: there is none. */
  readonly logEndAtMs: number | null;
  /** How often the end of a log was ahead of the clock and went back to it. */
  readonly logResets: number;
};
