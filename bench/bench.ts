import type { Figure } from './figure.ts';

/** How this run measures, and where its prose goes. */
export type Bench = {
  readonly rounds: number;
  readonly secondsPerRound: number;
  /** The main module of the server under test. */
  readonly serverEntry: string;
  /** Puts the reference on both sides: every ratio must come out near 1, or the harness itself is unfair. */
  readonly calibrate: boolean;
  /** Events in the log of a filled database. */
  readonly events: number;
  /** Traces in a database that is filled with these. */
  readonly traces: number;
  /** Where rows that can use either keep their data. */
  readonly store: 'sqlite' | 'postgres';
  /** Says something worth knowing in every run. */
  say(text: string): void;
  /** Says a raw number, only when asked for. */
  detail(text: string): void;
};

/** The name of a figure, which tells the stores apart. */
export function nameOf({ store }: Bench, figure: string): string {
  return store === 'postgres' ? `pg-${figure}` : figure;
}

/** Measures the figures of one name. Rejects when it could not measure. */
export type Row = {
  readonly name: string;
  readonly about: string;
  /** After which it counts as hung; 300 unless it says more. */
  readonly secondsMax?: number;
  run(bench: Bench): Promise<Figure[]>;
};
