import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { create, type Receiver, startReceiver, startSending } from '../api/endpoints/endpoints-client.ts';
import type { TestApp } from '../support/app.ts';
import { llmTrace } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { namedBy, readDashboard, readOperatorRules, readRules, readUses } from './watching-files.ts';

const ROOT = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** What Prometheus adds: `up` for each target, and the labels that name it. */
const OF_PROMETHEUS = ['up'];
const LABELS_OF_TARGETS = ['job', 'instance'];
/** Metrics, with their labels, that a server has with some settings only: those of the move of texts to ClickHouse. */
const OF_SETTINGS: Readonly<Record<string, readonly string[]>> = { spandrel_upkeep_late_seconds: ['work'] };
/** Metrics that the other store does not have. */
const OF_STORE = {
  sqlite: ['spandrel_database_free_bytes', 'spandrel_database_wal_bytes'],
  postgres: ['spandrel_database_connections'],
};
/** Statuses depend on what goes wrong. */
const LABELS_OF_TROUBLE = ['status'];

let app: TestApp;
let receiver: Receiver;
/** The values of each label by metric. */
let served: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

beforeAll(async () => {
  receiver = await startReceiver();
  app = await startSending();
  const headers = { 'x-auth-token': app.projectKey };
  await create(app, { url: receiver.url, enabled_events: ['gateway.request.*'], max_batch_delay_ms: 0 });
  const post = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, headers, body });
  expect((await post('/api/collector', llmTrace(Date.now()))).status).toBe(200);
  const data = { output: 'right', expected_output: 'right' };
  expect((await post('/api/evaluations/langevals/exact_match/evaluate', { data })).status).toBe(200);
  // Not described by the contract.
  expect((await fetch(`${app.address}/v1/models`)).status).toBe(401);
  await until(async () => (await scrape()).has('spandrel_webhook_attempts_total'));
  const ofSettings = Object.entries(OF_SETTINGS).map(
    ([name, labels]) => [name, new Map(labels.map((label) => [label, new Set<string>()]))] as const,
  );
  served = new Map([...(await scrape()), ...ofSettings]);
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

async function scrape() {
  const text = await (await fetch(`${app.address}/metrics`)).text();
  const found = new Map<string, Map<string, Set<string>>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const values = found.get(name) ?? new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) {
      values.set(label, (values.get(label) ?? new Set()).add(value));
    }
    found.set(name, values);
  }
  return found;
}

const store = inject('store') === 'postgres' ? 'postgres' : 'sqlite';
const isElsewhere = (name: string) => OF_STORE[store === 'postgres' ? 'sqlite' : 'postgres'].includes(name);

describe('dashboard and alerts', () => {
  const uses = readUses();

  it('name metrics that the server has, with their labels and values', () => {
    const named = uses.map((use) => ({ ...use, ...namedBy(use) }));
    const names = named.flatMap(({ metrics }) => metrics.map(({ name }) => name));
    expect(new Set(names).size).toBeGreaterThan(30);
    for (const { place, metrics, labels } of named) {
      expect(metrics.length, place).toBeGreaterThan(0);
      const here = metrics.filter(({ name }) => !OF_PROMETHEUS.includes(name) && !isElsewhere(name));
      const known = here.map(({ name }) => [name, served.get(name)] as const);
      expect(
        known.filter(([, values]) => values === undefined).map(([name]) => name),
        place,
      ).toEqual([]);
      if (here.length < metrics.length) continue;
      const all = new Set([...LABELS_OF_TARGETS, ...known.flatMap(([, values]) => [...(values?.keys() ?? [])])]);
      expect(
        labels.filter((label) => !all.has(label)),
        place,
      ).toEqual([]);
      for (const { name, matchers } of here) expect(matchers.filter(isForeign(name)), `${place}: ${name}`).toEqual([]);
    }
  });

  /** Whether the metric has no such label, or none of its series the value. */
  const isForeign = (name: string) => (matcher: { label: string; operator: string; value: string }) => {
    const { label, operator, value } = matcher;
    if (LABELS_OF_TARGETS.includes(label)) return false;
    const values = [...(served.get(name)?.get(label) ?? [])];
    if (LABELS_OF_TROUBLE.includes(label)) return values.length === 0;
    const pattern = new RegExp(`^(?:${value})$`);
    return !values.some((each) => (operator.endsWith('~') ? pattern.test(each) : each === value));
  };

  it('name the metrics of this store', () => {
    for (const name of OF_STORE[store]) expect(served.has(name), name).toBe(true);
  });

  it('are read by this test as Prometheus reads them', () => {
    const query = 'sum by (le, a) (rate(x_total{b="1", c=~"2|3"}[5m])) / 2e9 > 1 or y_seconds and on (d) max(z)';
    expect(namedBy({ place: '', query, texts: '{{ $labels.e }} {{f}} {{ $value }}' })).toEqual({
      metrics: [
        {
          name: 'x_total',
          matchers: [
            { label: 'b', operator: '=', value: '1' },
            { label: 'c', operator: '=~', value: '2|3' },
          ],
        },
        { name: 'y_seconds', matchers: [] },
        { name: 'z', matchers: [] },
      ],
      labels: ['le', 'a', 'd', 'e', 'f'],
    });
  });

  it('the panels of the dashboard have ids of their own, and show something', () => {
    const { panels } = readDashboard();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets } of panels) expect(targets?.length, title).not.toBe(0);
  });
});

describe('every alert', () => {
  const alerts = readRules().groups.flatMap(({ rules }) => rules);
  const unitTests: { readonly alert_rule_test: readonly { alertname: string; exp_alerts?: readonly object[] }[] }[] =
    parse(read('test/rules/rules.test.yaml')).tests;

  it('is the same for the operator of Prometheus', () => {
    expect(readOperatorRules().groups).toEqual(readRules().groups);
  });

  it.each(alerts)('$alert has an entry in the runbook, which its link leads to', ({ alert, labels, annotations }) => {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.runbook_url).toBe(`docs/production.md#${alert.toLowerCase()}`);
    const [, entry = ''] = new RegExp(`^### ${alert}\n\n([^]*?)\n#`, 'm').exec(read('docs/production.md')) ?? [];
    expect(entry.startsWith(labels.severity === 'page' ? 'Page. ' : 'Ticket. ')).toBe(true);
    expect(entry.length).toBeGreaterThan(80);
  });

  it('and no other has an entry', () => {
    const entries = [...read('docs/production.md').matchAll(/^### (Spandrel\w+)$/gm)].map(([, name]) => name);
    expect(entries).toEqual(alerts.map(({ alert }) => alert));
  });

  it('is checked by npm run test:rules, which says what it needs where that is missing', () => {
    const { status, stderr } = spawnSync(process.execPath, ['test/rules/main.ts'], {
      ...{ cwd: ROOT, encoding: 'utf8', env: { PATH: '/nonexistent', NODE_NO_WARNINGS: '1' } },
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^test:rules cannot run here: it needs promtool .*\n$/),
    ]);
  });

  it.each(alerts)('$alert is raised, and is not, by series of its own', ({ alert }) => {
    const own = unitTests.flatMap((each) => each.alert_rule_test).filter(({ alertname }) => alertname === alert);
    expect(own.map(({ exp_alerts: raised = [] }) => raised.length).sort()).toEqual([0, 1]);
  });
});
