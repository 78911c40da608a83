import Database from 'better-sqlite3';
import { packEnvelope } from '../../src/storage/engine/sqlite/compact-envelopes.ts';
import { packRequestKey } from '../../src/storage/engine/sqlite/compact-ids.ts';
import { eventTypes, requestSources, requestStatuses } from '../../src/storage/rows/codes.ts';
import { createdAtMs, type FillPlan, isValueSlot, slotValue } from './plan.ts';
import { createRequestIds, hexDigits, type RequestIds } from './request-ids.ts';
import { makeSpecimen, type Specimen, type Tenant } from './specimen.ts';

type Fill = {
  readonly db: Database.Database;
  readonly plan: FillPlan;
  readonly tenant: Tenant;
  readonly specimen: Specimen;
  readonly ids: RequestIds;
};

const SCHEME = 'sqlite:';
const BATCH_ROWS = 20_000;
const CACHE_KIB = 262_144;
const TYPE = 'gateway.request.completed';

/** Writes all rows of a log into a database that no process has open. */
export async function fillSqlite(url: string, plan: FillPlan): Promise<Tenant> {
  const db = new Database(url.slice(SCHEME.length), { fileMustExist: true });
  try {
    const tenant = readTenant(db);
    const specimen = await makeSpecimen(tenant);
    // An interrupted fill is discarded, so it needs no journal and no sync.
    db.pragma('journal_mode = DELETE');
    db.pragma('journal_mode = MEMORY');
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('synchronous = OFF');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    const fill: Fill = { db, plan, tenant, specimen, ids: createRequestIds(plan.events) };
    writeEvents(fill);
    writeRequests(fill);
    db.prepare('INSERT INTO log_heads (organization_number, seq, created_at, last_key_index) VALUES (?, ?, ?, 0)').run(
      tenant.organizationNumber,
      plan.events,
      createdAtMs(plan, plan.events),
    );
    // Writes everything now: later writes would disturb a measurement.
    db.pragma('synchronous = FULL');
    db.pragma('locking_mode = NORMAL');
    db.pragma('journal_mode = WAL');
    return tenant;
  } finally {
    db.close();
  }
}

function readTenant(db: Database.Database): Tenant {
  const [tenant] = db
    .prepare<[], Tenant>(
      `SELECT organizations.id AS organizationId, organizations.number AS organizationNumber,
         projects.id AS projectId, projects.number AS projectNumber
       FROM organizations JOIN projects ON projects.organization_id = organizations.id
       ORDER BY organizations.number, projects.number LIMIT 1`,
    )
    .all();
  if (tenant === undefined) throw new Error('The database has no project.');
  if (db.prepare('SELECT 1 FROM log_heads').get() !== undefined) throw new Error('The database has events already.');
  return tenant;
}

/** Writes envelopes and events alternately, as appends do. */
function writeEvents({ db, plan, tenant, specimen, ids }: Fill): void {
  const insertEnvelope = db.prepare<[number, number, string]>(
    'INSERT INTO envelopes (organization_number, seq, envelope) VALUES (?, ?, ?)',
  );
  const insertEvent = db.prepare<[number, number, string, number, number]>(
    'INSERT INTO events (organization_number, created_at, id, type, seq) VALUES (?, ?, ?, ?, ?)',
  );
  const type = eventTypes.code(TYPE);
  const { organizationNumber } = tenant;
  inBatches(db, plan.events, (seq) => {
    const created = createdAtMs(plan, seq);
    const request = ids.digitsOf(seq);
    let text = '';
    for (const part of specimen.parts) {
      if (typeof part === 'string') text += part;
      else if (part.slot === 'request') text += request;
      else if (part.slot === 'trace') text += hexDigits(-seq, 32);
      else if (isValueSlot(part.slot)) text += slotValue(part.slot, seq);
      else text += new Date(part.slot === 'created' ? created : created - specimen.occurredAgoMs).toISOString();
    }
    insertEnvelope.run(organizationNumber, seq, packEnvelope(text));
    insertEvent.run(organizationNumber, created, `req_${request}:completed`, type, seq);
  });
}

function writeRequests({ db, plan, tenant, specimen, ids }: Fill): void {
  const insert = db.prepare<[number, number, string | Buffer, number, number, number, number, number, number | null]>(
    `INSERT INTO requests (sequence, organization_number, request_key, project_number, state, completed_by, completed_at,
       received_at, nano_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertKey = db.prepare<[number, string | Buffer, number]>('INSERT INTO request_keys VALUES (?, ?, ?)');
  const { organizationNumber, projectNumber } = tenant;
  const status = requestStatuses.code('success');
  const source = requestSources.code('span');
  const keyOf = (seq: number) => packRequestKey(`req_${ids.digitsOf(seq)}`);
  inBatches(db, plan.events, (seq) => {
    const received = createdAtMs(plan, seq);
    insert.run(
      seq,
      organizationNumber,
      keyOf(seq),
      projectNumber,
      status,
      source,
      received,
      received,
      specimen.nanoUsd,
    );
  });
  inBatches(db, plan.events, (position) => {
    const seq = ids.seqAt(position - 1);
    insertKey.run(organizationNumber, keyOf(seq), seq);
  });
  db.prepare('UPDATE indexed_requests SET sequence = ?').run(plan.events);
}

/** Calls `write` with 1 to `count`, in transactions of bounded size. */
function inBatches(db: Database.Database, count: number, write: (position: number) => void): void {
  const writeBatch = db.transaction((first: number, last: number) => {
    for (let position = first; position <= last; position += 1) write(position);
  });
  for (let first = 1; first <= count; first += BATCH_ROWS) {
    writeBatch(first, Math.min(count, first + BATCH_ROWS - 1));
  }
}
