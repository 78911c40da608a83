import type { Figure } from './figure.ts';

/** The settings of a run, and its text output. */
export type Bench = {
  readonly rounds: number;
  readonly secondsPerRound: number;
  /** The main module of the server under test. */
  readonly serverEntry: string;
  /** Runs the reference on both sides: ratios far from 1 show that the harness is unfair. */
  readonly calibrate: boolean;
  /** The number of events in a filled database. */
  readonly events: number;
  /** The number of traces in a database filled with traces. */
  readonly traces: number;
  /** The store of the rows that support several; `clickhouse` has the traces of a SQLite file. */
  readonly store: keyof typeof PREFIXES;
  /** Prints a line in every run. */
  say(text: string): void;
  /** Prints a line only with --verbose. */
  detail(text: string): void;
};

/** Before the names of the figures of a store. */
export const PREFIXES = { sqlite: '', postgres: 'pg-', clickhouse: 'ch-' } as const;

/** The name of a figure, with the prefix of the store of the run. */
export function nameOf({ store }: Bench, figure: string): string {
  return PREFIXES[store] + figure;
}

/** Measures figures. Rejects if it cannot. */
export type Row = {
  readonly name: string;
  readonly about: string;
  /** The time limit in seconds; 300 by default. */
  readonly secondsMax?: number;
  run(bench: Bench): Promise<Figure[]>;
};
