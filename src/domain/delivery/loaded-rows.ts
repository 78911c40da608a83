/** The rows that a transaction of delivery work has loaded, and its changes to them. */

import type {
  AttemptEnd,
  AttemptRow,
  DeliveryContent,
  DeliveryRow,
  EndedAttempt,
  EndpointRow,
  FinishedCount,
  HourCount,
  NewDeliveryRow,
  ReplayRow,
} from './delivery-rows.ts';
import { BUCKET_MS } from './delivery-rows.ts';

/** The rows read at the start of the transaction. */
export type RowsRead = {
  /** Archived endpoints too. The transaction holds the rows of their states until it ends. */
  readonly endpoints: readonly EndpointRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly replays: readonly ReplayRow[];
  /** By delivery number. */
  readonly contents: ReadonlyMap<number, DeliveryContent>;
  /** Attempts of the current hour, by organization number. */
  readonly attempts: ReadonlyMap<number, number>;
  /** Ids of existing deliveries. Those of no interest to the work are left out. */
  readonly dispatchIds: readonly string[];
  /** Unused delivery numbers. */
  readonly numbers: readonly number[];
};

export type LoadedRows = ReturnType<typeof createLoadedRows>;

export function createLoadedRows({ contents, attempts, numbers, ...loaded }: RowsRead) {
  const endpoints = createRows(loaded.endpoints);
  const deliveries = createRows(loaded.deliveries);
  const replays = createRows(loaded.replays);
  const dispatchIds = new Set(loaded.dispatchIds);
  const unused = numbers.values();
  const added = new Map<number, NewDeliveryRow>();
  const begun = new Map<string, AttemptRow>();
  const ended: EndedAttempt[] = [];
  const figures = new Map<string, FinishedCount>();
  const hours = new Map<number, HourCount>();

  return {
    endpoint: endpoints.get,
    delivery: (number: number) => added.get(number) ?? deliveries.get(number),
    replay: replays.get,
    content: ({ number }: DeliveryRow) => found(contents.get(number)),
    attemptsInHour: (organizationNumber: number) =>
      (attempts.get(organizationNumber) ?? 0) + (hours.get(organizationNumber)?.attempts ?? 0),
    nextDeliveryNumber: () => found(unused.next().value),
    /**
     * The id of a new delivery: the one it asks for, or if that is taken the same with the number of the delivery. Each number is used
     * once, and the letter keeps the id from those of a divided batch.
     */
    takeDispatchId(wanted: string, number: number): string {
      const id = dispatchIds.has(wanted) ? `${wanted}-n${number}` : wanted;
      dispatchIds.add(id);
      return id;
    },
    setEndpoint: endpoints.set,
    setDelivery(delivery: DeliveryRow) {
      const fresh = added.get(delivery.number);
      if (fresh === undefined) deliveries.set(delivery);
      else added.set(delivery.number, { ...fresh, ...delivery });
    },
    setReplay: replays.set,
    addDelivery: (delivery: NewDeliveryRow) => void added.set(delivery.number, delivery),
    addAttempt: (attempt: AttemptRow) => void begun.set(attempt.id, attempt),
    /** Ends the newest attempt of the delivery. */
    endAttempt({ endpointNumber, attemptId, lastAttemptAtMs }: DeliveryRow, end: AttemptEnd) {
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
    /** Everything to write. Each row appears once, in its final form. */
    changes: () => ({
      endpoints: endpoints.changed(),
      /** These are also in `endpoints`. Delivery work changes the version of an endpoint only by disabling it. */
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

/** Rows by number, with the loaded version and the changed one. */
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
