import pg from 'pg';
import { monthOf } from '../../src/storage/engine/postgres/months.ts';
import { eventTypes, requestSources, requestStatuses } from '../../src/storage/rows/codes.ts';
import { createdAtMs, type FillPlan, stepMs, TIE_EVERY, VALUE_FACTOR, VALUES, type ValueSlot } from './plan.ts';
import { makeSpecimen, type Slot, type Specimen, type Tenant } from './specimen.ts';

type Fill = { readonly plan: FillPlan; readonly tenant: Tenant; readonly specimen: Specimen };

const SESSIONS = 2;
const CHUNK_EVENTS = 250_000;
const TYPE = eventTypes.code('gateway.request.completed');

/** Generates all rows of a log in the database: only SQL goes over the connection. */
export async function fillPostgres(url: string, plan: FillPlan): Promise<Tenant> {
  const clients = await Promise.all(Array.from({ length: SESSIONS }, () => connect(url)));
  const [client] = clients;
  if (client === undefined) throw new Error('There is no connection.');
  try {
    const tenant = await readTenant(client);
    const fill: Fill = { plan, tenant, specimen: await makeSpecimen(tenant) };
    await client.query('SELECT create_month(month) FROM generate_series($1::integer, $2::integer) AS month', [
      monthOf(plan.fromMs),
      monthOf(plan.toMs),
    ]);
    const statements = [insertKeys(fill), ...insertInChunks(fill)];
    await Promise.all(clients.map((each) => runAll(each, statements)));
    await client.query(
      'INSERT INTO log_heads (organization_number, seq, created_at, last_key_index) VALUES ($1, $2, $3, 0)',
      [tenant.organizationNumber, plan.events, createdAtMs(plan, plan.events)],
    );
    await client.query('VACUUM (ANALYZE) events, requests, request_keys');
    await client.query('CHECKPOINT');
    return tenant;
  } finally {
    await Promise.all(clients.map((each) => each.end()));
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // An interrupted fill is discarded, so commits need no sync.
  await client.query(`SET synchronous_commit = off; SET work_mem = '512MB'; SET maintenance_work_mem = '512MB'`);
  return client;
}

async function readTenant(client: pg.Client): Promise<Tenant> {
  const { rows } = await client.query<Tenant>(
    `SELECT organizations.id AS "organizationId", organizations.number AS "organizationNumber",
       projects.id AS "projectId", projects.number AS "projectNumber"
     FROM organizations JOIN projects ON projects.organization_id = organizations.id
     ORDER BY organizations.number, projects.number LIMIT 1`,
  );
  const [tenant] = rows;
  if (tenant === undefined) throw new Error('The database has no project.');
  const { rowCount } = await client.query('SELECT 1 FROM log_heads');
  if (rowCount !== 0) throw new Error('The database has events already.');
  return tenant;
}

/** All sessions take statements from one queue. */
async function runAll(client: pg.Client, statements: string[]): Promise<void> {
  for (let sql = statements.shift(); sql !== undefined; sql = statements.shift()) await client.query(sql);
}

/** Inserts in the order of the random key: else every row would go to another page. */
function insertKeys(fill: Fill): string {
  return `INSERT INTO request_keys (organization_number, request_key, changed_at)
    SELECT ${fill.tenant.organizationNumber}, 'req_' || request, created_at
    FROM (${selectEvents(fill, 1, fill.plan.events)}) AS event ORDER BY 2`;
}

function insertInChunks(fill: Fill): string[] {
  const { events } = fill.plan;
  const chunks = Array.from({ length: Math.ceil(events / CHUNK_EVENTS) }, (_, index) => index * CHUNK_EVENTS + 1);
  return chunks.flatMap((first) => {
    const chunk = selectEvents(fill, first, Math.min(events, first + CHUNK_EVENTS - 1));
    return [insertEvents(fill, chunk), insertRequests(fill, chunk)];
  });
}

function insertEvents({ tenant, specimen }: Fill, chunk: string): string {
  const instant = (column: string) =>
    `to_char(timestamp 'epoch' + ${column} * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const value = (slot: ValueSlot) => `'${slot}_' || seq * ${VALUE_FACTOR}::bigint % ${VALUES[slot]}`;
  const slots: Readonly<Record<Slot, string>> = {
    request: 'request',
    trace: `md5('trace ' || seq)`,
    created: instant('created_at'),
    occurred: instant(`(created_at - ${specimen.occurredAgoMs})`),
    ...{ key: value('key'), user: value('user'), model: value('model') },
  };
  const envelope = specimen.parts.map((part) => (typeof part === 'string' ? pg.escapeLiteral(part) : slots[part.slot]));
  return `INSERT INTO events (organization_number, created_at, id, type, seq, envelope)
    SELECT ${tenant.organizationNumber}, created_at, 'req_' || request || ':completed', ${TYPE}, seq,
      ${envelope.join(' || ')}
    FROM (${chunk}) AS event ORDER BY seq`;
}

function insertRequests({ tenant, specimen }: Fill, chunk: string): string {
  return `INSERT INTO requests (organization_number, request_key, changed_at, project_number, state, completed_by,
      received_at, completed_at, nano_usd)
    SELECT ${tenant.organizationNumber}, 'req_' || request, created_at, ${tenant.projectNumber},
      ${requestStatuses.code('success')}, ${requestSources.code('span')}, created_at, created_at, ${specimen.nanoUsd ?? 'NULL'}
    FROM (${chunk}) AS event ORDER BY seq`;
}

/** Selects sequence numbers, instants and requests of events by the plan. */
function selectEvents({ plan }: Fill, first: number, last: number): string {
  return `SELECT seq, substr(md5('request ' || seq), 1, 30) AS request,
      ${plan.fromMs} + floor((CASE seq % ${TIE_EVERY} WHEN 0 THEN seq - 1 ELSE seq END)
        * ${stepMs(plan)}::double precision)::bigint AS created_at
    FROM generate_series(${first}, ${last}) AS seq`;
}
