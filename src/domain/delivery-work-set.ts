/** What a transaction of work has read and changed so far. */

import type {
  AttemptEnd,
  AttemptRow,
  EndedAttempt,
  FinishedCount,
  HourCount,
  NewDelivery,
  WorkContent,
  WorkDelivery,
  WorkEndpoint,
  WorkReplay,
} from './delivery-rows.ts';
import { BUCKET_MS } from './delivery-rows.ts';

/** What was read ahead. */
export type LoadedRows = {
  /** With their states, the rows of which the transaction holds until it ends. Archived ones too. */
  readonly endpoints: readonly WorkEndpoint[];
  readonly deliveries: readonly WorkDelivery[];
  readonly replays: readonly WorkReplay[];
  /** By the numbers of deliveries. */
  readonly contents: ReadonlyMap<number, WorkContent>;
  /** Attempts of organizations in the hour in which they are counted. */
  readonly attempts: ReadonlyMap<number, number>;
  /** That no delivery has had. */
  readonly numbers: readonly number[];
};

export type WorkSet = ReturnType<typeof createWorkSet>;

export function createWorkSet({ contents, attempts, numbers, ...loaded }: LoadedRows) {
  const endpoints = createRows(loaded.endpoints);
  const deliveries = createRows(loaded.deliveries);
  const replays = createRows(loaded.replays);
  const unused = numbers.values();
  const added = new Map<number, NewDelivery>();
  const begun = new Map<string, AttemptRow>();
  const ended: EndedAttempt[] = [];
  const figures = new Map<string, FinishedCount>();
  const hours = new Map<number, HourCount>();

  return {
    endpoint: endpoints.get,
    delivery: (number: number) => added.get(number) ?? deliveries.get(number),
    replay: replays.get,
    content: ({ number }: WorkDelivery) => found(contents.get(number)),
    attemptsInHour: (organizationNumber: number) =>
      (attempts.get(organizationNumber) ?? 0) + (hours.get(organizationNumber)?.attempts ?? 0),
    nextDeliveryNumber: () => found(unused.next().value),
    setEndpoint: endpoints.set,
    setDelivery(delivery: WorkDelivery) {
      const fresh = added.get(delivery.number);
      if (fresh === undefined) deliveries.set(delivery);
      else added.set(delivery.number, { ...fresh, ...delivery });
    },
    setReplay: replays.set,
    addDelivery: (delivery: NewDelivery) => void added.set(delivery.number, delivery),
    addAttempt: (attempt: AttemptRow) => void begun.set(attempt.id, attempt),
    /** The newest attempt of the delivery. */
    endAttempt({ endpointNumber, attemptId, lastAttemptAtMs }: WorkDelivery, end: AttemptEnd) {
      if (attemptId === null || lastAttemptAtMs === null) throw new Error('an attempt ends that has never begun');
      const fresh = begun.get(attemptId);
      if (fresh !== undefined) begun.set(attemptId, { ...fresh, ...end });
      else ended.push({ endpointNumber, firedAtMs: lastAttemptAtMs, id: attemptId, ...end });
    },
    countAttempt(organizationNumber: number, hour: number) {
      const before = hours.get(organizationNumber)?.attempts ?? 0;
      hours.set(organizationNumber, { organizationNumber, hour, attempts: before + 1 });
    },
    countFinished(endpointNumber: number, nowMs: number, succeeded: boolean) {
      const bucket = Math.floor(nowMs / BUCKET_MS);
      const before = figures.get(`${endpointNumber}/${bucket}`) ?? { finished: 0, succeeded: 0 };
      figures.set(`${endpointNumber}/${bucket}`, {
        endpointNumber,
        bucket,
        finished: before.finished + 1,
        succeeded: before.succeeded + (succeeded ? 1 : 0),
      });
    },
    /** Everything that has to be written. Each row is named once, as it is in the end. */
    changes: () => ({
      endpoints: endpoints.changed(),
      /** Work changes nothing else of what moves the version on. All of them are among the endpoints, too. */
      disabled: endpoints.changed().filter(({ number, version }) => version !== endpoints.before(number)?.version),
      newDeliveries: [...added.values()],
      deliveries: deliveries.changed(),
      newAttempts: [...begun.values()],
      endedAttempts: ended,
      replays: replays.changed(),
      figures: [...figures.values()],
      hours: [...hours.values()],
    }),
  };
}

/** Rows by their numbers: as they were read, then as they were changed. */
function createRows<Row extends { readonly number: number }>(rows: readonly Row[]) {
  const before = new Map(rows.map((row) => [row.number, row]));
  const after = new Map<number, Row>();
  return {
    before: (number: number) => before.get(number),
    get: (number: number): Row | undefined => after.get(number) ?? before.get(number),
    set: (row: Row): void => void after.set(row.number, row),
    changed: (): readonly Row[] => [...after.values()],
  };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('work asks for what was not read ahead');
  return value;
}
