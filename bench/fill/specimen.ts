import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config/config.ts';
import { bootstrap } from '../../src/domain/organization/bootstrap.ts';
import { readPriceList } from '../../src/domain/pricing/price-list.ts';
import { createPricing } from '../../src/domain/pricing/pricing.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { collect } from '../../src/domain/traces/collector/collector.ts';
import { toTraceDraft } from '../../src/domain/traces/collector/collector-json.ts';
import { openStore } from '../../src/storage/open.ts';
import { createJsonTrace } from '../load/trace.ts';
import type { ValueSlot } from './plan.ts';
import { quietLog } from './quiet-log.ts';

/** The owner of the log. Rows hold the numbers. */
export type Tenant = {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly projectId: string;
  readonly projectNumber: number;
};

/** The parts of an envelope that differ between events. */
export type Slot = 'request' | 'trace' | 'created' | 'occurred' | ValueSlot;

/** The event of one trace. `parts` joined, with values in place of the slots, is an envelope. */
export type Specimen = {
  readonly parts: readonly (string | { readonly slot: Slot })[];
  /** Milliseconds from a call's end to its event. */
  readonly occurredAgoMs: number;
  readonly nanoUsd: number | null;
};

/** The user of the traces of this bench. */
const USER = 'user_5f2c91';
const NO_KEY = '"virtual_key_id":"';

type Mark = { readonly slot: Slot; readonly text: string };

/** Stores one trace of this bench with the product and splits its event into parts. */
export async function makeSpecimen(tenant: Tenant): Promise<Specimen> {
  const config = readConfig({});
  const store = await openStore({ url: 'sqlite::memory:', queueMaxBytes: 1_048_576, log: quietLog });
  try {
    const rootKeys = deriveRootKeys(randomBytes(32).toString('hex'));
    const ids = { organizationId: tenant.organizationId, projectId: tenant.projectId };
    await bootstrap(
      { store: store.installation, rootKeys, keyPrefixes: config.keyPrefixes, random: randomBytes },
      { ...config.bootstrap, ...ids },
      Date.now(),
    );
    const project = await store.keys.findProject(tenant.projectId);
    if (project === null) throw new Error('The first project is missing.');
    const body = Buffer.from(createJsonTrace(1).createSource(Buffer.alloc(0))());
    const facts = { depth: 8, hasEscapes: false, bytes: body.length, hasWide: false };
    const collecting = collect(
      toTraceDraft(JSON.parse(body.toString()), facts),
      { project, nowMs: Date.now(), expiredBeforeMs: null },
      { prices: createPricing(readPriceList()), limits: config.limits.traces, losses: { note: () => undefined } },
    );
    const { append } = runWithoutPauses(collecting);
    await store.traces.append(append);
    const organization = { id: project.organizationId, number: project.organizationNumber };
    const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
    const [event] = await store.events.list({ organization, ...everything, limit: 1 });
    const [span] = append.spans;
    const [request] = append.requests;
    if (event === undefined || span === undefined || request === undefined) throw new Error('A trace had no event.');
    return {
      parts: splitEnvelope(event.envelope, [
        { slot: 'request', text: request.gatewayRequestId.slice('req_'.length) },
        { slot: 'trace', text: append.traceId },
        { slot: 'created', text: new Date(event.createdAtMs).toISOString() },
        { slot: 'occurred', text: new Date(span.finishedAtMs).toISOString() },
        { slot: 'user', text: USER },
        { slot: 'model', text: span.model ?? '' },
      ]).flatMap(addKey),
      occurredAgoMs: event.createdAtMs - span.finishedAtMs,
      nanoUsd: span.costNanoUsd,
    };
  } finally {
    await store.close();
  }
}

/** Puts a virtual key where the event of a trace has none. */
function addKey(part: Specimen['parts'][number]): Specimen['parts'] {
  if (typeof part !== 'string' || !part.includes(`${NO_KEY}"`)) return [part];
  const at = part.indexOf(NO_KEY) + NO_KEY.length;
  return [part.slice(0, at), { slot: 'key' }, part.slice(at)];
}

function splitEnvelope(envelope: string, marks: readonly Mark[]): Specimen['parts'] {
  const parts: Specimen['parts'][number][] = [];
  const pattern = new RegExp(`(${marks.map(({ text }) => text).join('|')})`);
  for (const text of envelope.split(pattern)) {
    const mark = marks.find((each) => each.text === text);
    parts.push(mark === undefined ? text : { slot: mark.slot });
  }
  for (const { slot } of marks) {
    if (!parts.some((part) => typeof part !== 'string' && part.slot === slot)) {
      throw new Error(`The envelope does not tell its ${slot}:\n${envelope}`);
    }
  }
  return parts;
}
