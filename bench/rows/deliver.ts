import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../bench.ts';
import { type Compared, compare } from '../compare.ts';
import { type Figure, judge } from '../figure.ts';
import { type Deliveries, openDeliveries } from '../load/delivery.ts';
import { runHttpLoad } from '../load/http.ts';
import { recordRequests } from '../load/records.ts';
import { checkSignature, createEndpoint, type Endpoint, waitUntilIdle } from '../load/webhooks.ts';
import { type Keys, mintKeys, startLimit, startLimitOn, startServer } from '../sides.ts';

const maxInFlight = 8;
const endpointCounts = [1, 8];
const recordsPerCall = 500;
const reportConnections = 4;
/** A round's backlog exceeds the last round's use, so that it does not end early. */
const backlogFactor = 1.5;
const drainMs = 60_000;
const pollMs = 20;

type Plan = { readonly batchSize: number; readonly endpoints: number; readonly firstBacklog: number };

/** One program with its backlog and its receiver. */
type Side = Deliveries & { prepare(): Promise<void>; left(): number; conclude(): Promise<void> };

export const deliverSingle: Row = {
  name: 'deliver-single',
  about: 'one event per request to 1 and to 8 endpoints against sign + POST + one durable row',
  async run(bench) {
    const figures: Figure[] = [];
    for (const endpoints of endpointCounts) {
      const name = nameFor('deliver-single', endpoints);
      const { product, reference } = await compareDeliveries(bench, { batchSize: 1, endpoints, firstBacklog: 10_000 });
      const measured = { value: product.perSecond, unit: 'events/s' };
      figures.push(
        judge({ ...measured, name, reference: reference.perSecond }, { of: 'ratio', atLeast: 0.5 }),
        judge({ ...measured, name: `${name}-rate`, reference: null }, { of: 'value', atLeast: 3_000 }),
      );
    }
    return figures;
  },
};

export const deliverBatch: Row = {
  name: 'deliver-batch',
  about: 'a hundred events per request to 1 and to 8 endpoints, beside sign + POST + one durable row per request',
  async run(bench) {
    const figures: Figure[] = [];
    for (const endpoints of endpointCounts) {
      const name = nameFor('deliver-batch', endpoints);
      const { product, reference } = await compareDeliveries(bench, {
        batchSize: 100,
        endpoints,
        firstBacklog: 100_000,
      });
      const measured = { name, value: product.perSecond, unit: 'events/s', reference: reference.perSecond };
      figures.push(judge(measured, { of: 'value', atLeast: 50_000 }));
    }
    return figures;
  },
};

export const deliverClient: Row = {
  name: 'deliver-client',
  about: "the product's HTTP client against Node's, without storage",
  async run(bench) {
    const receivers = new Map<number, Deliveries>();
    const start = async (client: 'own' | 'node') => {
      const deliveries = await openDeliveries();
      const { port } = deliveries.receiver;
      receivers.set(port, deliveries);
      return await startLimitOn('post', [client, String(port), String(maxInFlight)]);
    };
    const receiverOf = (port: number): Deliveries => {
      const found = receivers.get(port);
      if (found === undefined) throw new Error('A program is measured that was not started.');
      return found;
    };
    try {
      const { product, reference } = await compare(bench, {
        startReference: () => start('node'),
        startProduct: () => start('own'),
        load: (port, stop) =>
          receiverOf(port).measure({
            seconds: 'seconds' in stop ? stop.seconds : 1,
            eventsMax: Number.POSITIVE_INFINITY,
          }),
      });
      const measured = { name: 'deliver-client', value: product.perSecond, unit: 'requests/s' };
      return [judge({ ...measured, reference: reference.perSecond }, { of: 'ratio', atLeast: 1.25 })];
    } finally {
      for (const { receiver } of receivers.values()) receiver.close();
    }
  },
};

function nameFor(row: string, endpoints: number): string {
  return endpoints === 1 ? row : `${row}-${endpoints}`;
}

async function compareDeliveries(bench: Bench, plan: Plan): Promise<Compared> {
  const sides = new Map<number, Side>();
  const sideOf = (port: number): Side => {
    const side = sides.get(port);
    if (side === undefined) throw new Error('A program is measured that was not started.');
    return side;
  };
  try {
    return await compare(bench, {
      unit: 'events',
      async startReference() {
        const deliveries = await openDeliveries();
        const lines = String(maxInFlight * plan.endpoints);
        const to = String(deliveries.receiver.port);
        const program = await startLimit('deliver', [to, lines, String(plan.batchSize)]);
        sides.set(program.port, endless(deliveries));
        return program;
      },
      async startProduct() {
        const keys = mintKeys();
        const program = await startServer(bench, keys);
        sides.set(program.port, await subscribe(program.port, keys, plan));
        return program;
      },
      prepare: (port) => sideOf(port).prepare(),
      load: (port, stop) => {
        const side = sideOf(port);
        return side.measure({ seconds: 'seconds' in stop ? stop.seconds : 1, eventsMax: side.left() });
      },
      async conclude() {
        for (const side of sides.values()) await side.conclude();
      },
    });
  } finally {
    for (const { receiver } of sides.values()) receiver.close();
  }
}

/** The reference sends the same events repeatedly. */
function endless(deliveries: Deliveries): Side {
  const nothing = () => Promise.resolve();
  return { ...deliveries, prepare: nothing, left: () => Number.POSITIVE_INFINITY, conclude: nothing };
}

async function subscribe(port: number, keys: Keys, plan: Plan): Promise<Side> {
  const deliveries = await openDeliveries();
  const { receiver } = deliveries;
  const endpoints: Endpoint[] = [];
  const draft = {
    url: `http://127.0.0.1:${receiver.port}/`,
    max_batch_size: plan.batchSize,
    max_in_flight: maxInFlight,
  };
  for (let count = 0; count < plan.endpoints; count += 1) endpoints.push(await createEndpoint(port, keys, draft));
  const createRequests = recordRequests(keys.projectKey, recordsPerCall);
  let backlog = plan.firstBacklog;
  let due = 0;
  const left = () => due - receiver.counts().events;

  return {
    ...deliveries,
    left,
    async prepare() {
      const calls = Math.ceil((backlog - left()) / plan.endpoints / recordsPerCall);
      if (calls <= 0) return;
      const stop = { requests: calls };
      await runHttpLoad({ ports: [port], connections: reportConnections, stop, expectedStatus: 200, createRequests });
      due += calls * recordsPerCall * plan.endpoints;
    },
    async measure(stop) {
      const result = await deliveries.measure(stop);
      backlog = Math.max(plan.firstBacklog, Math.ceil(result.perSecond * stop.seconds * backlogFactor));
      return result;
    },
    async conclude() {
      receiver.release();
      for (const startedAt = Date.now(); left() > 0; await delay(pollMs)) {
        if (Date.now() - startedAt > drainMs) throw new Error(`${left()} events did not come in time.`);
      }
      for (const endpoint of endpoints) await waitUntilIdle(port, keys, endpoint);
      if (left() < 0) throw new Error(`${-left()} events came twice.`);
      checkSignature(receiver, endpoints);
    },
  };
}
