/**
 * Counters, gauges and histograms, and their text for Prometheus. A library would need twenty times the memory, most of it
 * for features that are not used here.
 */

import { type Family, type Sample, textOf } from './text-format.ts';

export type Registry = {
  counter<Label extends string = never>(about: About<Label>): Counter<Label>;
  histogram<Label extends string = never>(
    about: About<Label> & { readonly bounds: readonly number[] },
  ): Histogram<Label>;
  /** A counter without labels. */
  count(about: About<never>): (by?: number) => void;
  /** A counter with one label, whose series all begin at zero. */
  countBy<Value extends string>(
    about: About<never> & { readonly label: string; readonly values: readonly Value[] },
  ): (value: Value, by?: number) => void;
  gauge(about: Read): void;
  /** A counter whose total another part of the system keeps. */
  total(about: Read): void;
  /** The text of all metrics, in the order of their registration. */
  text(): Promise<string>;
};

type About<Label extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** The most combinations of label values, where the default is too small. */
  readonly seriesMax?: number;
};

/** `read` runs at every scrape; the metric is left out where it fails. */
type Read = Omit<About<never>, 'labels'> & {
  readonly read: () => Promise<readonly Sample[] | number> | readonly Sample[] | number;
};

type Counter<Label extends string> = (labels: Readonly<Record<Label, string>>, by?: number) => void;
type Histogram<Label extends string> = (labels: Readonly<Record<Label, string>>, value: number) => void;

type Labels = Readonly<Record<string, string>>;

/** The most series of one name. Further ones are counted as `other`, so that text from callers cannot fill the memory. */
const SERIES_MAX = 200;
const OTHER = 'other';

type Metric = { readonly family: Family; readonly read: Read['read'] };

export function createRegistry(): Registry {
  const metrics: Metric[] = [];
  const add = (about: About<string>, kind: Family['kind'], read: Metric['read']) => {
    if (metrics.some(({ family }) => family.name === about.name)) throw new Error(`${about.name} is registered twice`);
    metrics.push({ family: { name: about.name, help: about.help, kind }, read });
  };
  function counter<Label extends string>(about: About<Label>): Counter<Label> {
    const series = createSeries(about, () => ({ value: 0 }));
    add(about, 'counter', () => series.all().map(({ labels, of }) => ({ labels, value: of.value })));
    return (labels, by = 1) => {
      series.find(labels).value += by;
    };
  }
  return {
    counter,
    count(about) {
      const increment = counter(about);
      return (by) => increment({}, by);
    },
    countBy({ label, values, ...about }) {
      const increment = counter({ ...about, labels: [label] });
      for (const value of values) increment({ [label]: value }, 0);
      return (value, by) => increment({ [label]: value }, by);
    },
    histogram(about) {
      const { bounds } = about;
      const series = createSeries(about, () => createBuckets(bounds));
      add(about, 'histogram', () => series.all().flatMap(({ labels, of }) => of.samples(labels)));
      return (labels, value) => series.find(labels).add(value);
    },
    gauge: (about) => add(about, 'gauge', about.read),
    total: (about) => add(about, 'counter', about.read),
    async text() {
      const read = await Promise.all(
        metrics.map(async ({ family, read }) => ({ family, samples: await readOr(read) })),
      );
      return textOf(read);
    },
  };
}

/** An unavailable store must not hide all other metrics. */
async function readOr(read: Metric['read']): Promise<readonly Sample[]> {
  try {
    const answer = await read();
    return typeof answer === 'number' ? [{ value: answer }] : answer;
  } catch {
    return [];
  }
}

type Series<T> = {
  find(labels: Labels): T;
  all(): readonly { readonly labels: Labels; readonly of: T }[];
};

/** What follows the value of one label: the values of the next one, or the series. */
type Level<T> = { readonly next: Map<string | undefined, Level<T>>; of: T | null };

/** Found label by label: to build one key of all values would cost more than the increment. */
function createSeries<T>({ labels: names = [], seriesMax = SERIES_MAX }: About<string>, create: () => T): Series<T> {
  const first: Level<T> = { next: new Map(), of: null };
  const known: { readonly labels: Labels; readonly of: T }[] = [];
  const make = (labels: Labels): T => {
    let level = first;
    for (const name of names) {
      const next: Level<T> = level.next.get(labels[name]) ?? { next: new Map(), of: null };
      level.next.set(labels[name], next);
      level = next;
    }
    if (level.of !== null) return level.of;
    level.of = create();
    known.push({ labels, of: level.of });
    return level.of;
  };
  // A series starts at zero, so that its first increment is visible.
  if (names.length === 0) make({});
  return {
    find(labels) {
      let level: Level<T> | undefined = first;
      for (const name of names) level = level?.next.get(labels[name]);
      const of = level?.of ?? null;
      if (of !== null) return of;
      return make(known.length < seriesMax ? labels : Object.fromEntries(names.map((name) => [name, OTHER])));
    },
    all: () => known,
  };
}

function createBuckets(bounds: readonly number[]) {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    add(value: number): void {
      count += 1;
      sum += value;
      const index = bounds.findIndex((bound) => value <= bound);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
    samples(labels: Labels): Sample[] {
      let below = 0;
      const buckets = bounds.map((bound, index) => {
        below += counts[index] ?? 0;
        return { suffix: '_bucket' as const, labels: { ...labels, le: String(bound) }, value: below };
      });
      return [
        ...buckets,
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
        { suffix: '_sum', labels, value: sum },
        { suffix: '_count', labels, value: count },
      ];
    },
  };
}
