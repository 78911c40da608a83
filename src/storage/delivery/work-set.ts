/** What a transaction of work has read and changed so far. */

import type {
  AttemptEnd,
  AttemptRow,
  EndedAttempt,
  FinishedCount,
  HourCount,
  NewDeliveryRow,
  WorkChanges,
  WorkContent,
  WorkDelivery,
  WorkEndpoint,
  WorkReplay,
  WorkTables,
} from './tables.ts';
import { BUCKET_MS, dropPassed } from './tables.ts';

export type WorkSet = {
  endpoint(number: number): WorkEndpoint | undefined;
  delivery(number: number): WorkDelivery | undefined;
  replay(number: number): WorkReplay | undefined;
  content(delivery: WorkDelivery, organizationNumber: number): WorkContent;
  attemptsInHour(organizationNumber: number, hour: number): number;
  nextDeliveryNumber(): number;
  setEndpoint(endpoint: WorkEndpoint): void;
  setDelivery(delivery: WorkDelivery): void;
  setReplay(replay: WorkReplay): void;
  addDelivery(delivery: NewDeliveryRow): void;
  addAttempt(attempt: AttemptRow): void;
  /** The newest attempt of the delivery. */
  endAttempt(delivery: WorkDelivery, end: AttemptEnd): void;
  countAttempt(organizationNumber: number, hour: number): void;
  countFinished(endpointNumber: number, nowMs: number, succeeded: boolean): void;
  changes(): WorkChanges;
};

export function createWorkSet(tables: WorkTables): WorkSet {
  const endpoints = createRows(tables.endpoint);
  const deliveries = createRows(tables.delivery);
  const replays = createRows(tables.replay);
  const added = new Map<number, NewDeliveryRow>();
  const begun = new Map<string, AttemptRow>();
  const ended: EndedAttempt[] = [];
  const figures = new Map<string, FinishedCount>();
  const hours = new Map<string, HourCount>();

  return {
    endpoint: endpoints.get,
    delivery: (number) => added.get(number) ?? deliveries.get(number),
    replay: replays.get,
    content: tables.content,
    attemptsInHour(organizationNumber, hour) {
      const counted = hours.get(`${organizationNumber}/${hour}`)?.attempts ?? 0;
      return tables.attemptsInHour(organizationNumber, hour) + counted;
    },
    nextDeliveryNumber: tables.nextDeliveryNumber,
    setEndpoint: endpoints.set,
    setDelivery(delivery) {
      const fresh = added.get(delivery.number);
      if (fresh === undefined) deliveries.set(delivery);
      else added.set(delivery.number, { ...fresh, ...delivery });
    },
    setReplay: replays.set,
    addDelivery: (delivery) => void added.set(delivery.number, delivery),
    addAttempt: (attempt) => void begun.set(attempt.id, attempt),
    endAttempt(delivery, end) {
      const { attemptId, lastAttemptAtMs } = delivery;
      if (attemptId === null || lastAttemptAtMs === null) throw new Error('an attempt ends that has never begun');
      const fresh = begun.get(attemptId);
      if (fresh !== undefined) begun.set(attemptId, { ...fresh, ...end });
      else ended.push({ endpointNumber: delivery.endpointNumber, firedAtMs: lastAttemptAtMs, id: attemptId, ...end });
    },
    countAttempt(organizationNumber, hour) {
      const key = `${organizationNumber}/${hour}`;
      hours.set(key, { organizationNumber, hour, attempts: (hours.get(key)?.attempts ?? 0) + 1 });
    },
    countFinished(endpointNumber, nowMs, succeeded) {
      const bucket = Math.floor(nowMs / BUCKET_MS);
      const before = figures.get(`${endpointNumber}/${bucket}`) ?? { finished: 0, succeeded: 0 };
      figures.set(`${endpointNumber}/${bucket}`, {
        endpointNumber,
        bucket,
        finished: before.finished + 1,
        succeeded: before.succeeded + (succeeded ? 1 : 0),
      });
    },
    changes() {
      const states = endpoints.changed().map((endpoint) => ({
        ...endpoint,
        subscriptions: dropPassed(endpoint.subscriptions, endpoint.position),
      }));
      return {
        states,
        // Work changes nothing else of what moves the version on.
        disabled: states.filter(({ number, version }) => version !== endpoints.before(number)?.version),
        newDeliveries: [...added.values()],
        deliveries: deliveries.changed(),
        newAttempts: [...begun.values()],
        endedAttempts: ended,
        replays: replays.changed(),
        figures: [...figures.values()],
        hours: [...hours.values()],
      };
    },
  };
}

/** Rows by their numbers: read once, then as they were changed. */
function createRows<Row extends { readonly number: number }>(read: (number: number) => Row | undefined) {
  const known = new Map<number, Row | undefined>();
  const after = new Map<number, Row>();

  function before(number: number): Row | undefined {
    if (!known.has(number)) known.set(number, read(number));
    return known.get(number);
  }

  return {
    before,
    get: (number: number): Row | undefined => after.get(number) ?? before(number),
    set: (row: Row): void => void after.set(row.number, row),
    changed: (): readonly Row[] => [...after.values()],
  };
}
