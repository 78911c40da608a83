/**
 * Checks the alert rules and the queries of the dashboard with promtool of Prometheus, and runs the rules on series that
 * raise each alert, and on some that raise none.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { dashboardQueries } from '../deploy/watching-files.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

if (spawnSync('promtool', ['--version']).status !== 0) {
  process.stderr.write('test:rules cannot run here: it needs promtool on the PATH: apt-get install prometheus\n');
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'spandrel-rules-'));
try {
  const queries = join(folder, 'dashboard.yaml');
  writeFileSync(queries, stringify({ groups: [{ name: 'dashboard', rules: dashboardQueries().map(toRule) }] }));
  const runs = [
    ['check', 'rules', join(ROOT, 'deploy/prometheus/rules.yaml'), queries],
    ['test', 'rules', join(ROOT, 'test/rules/rules.test.yaml')],
  ];
  const failed = runs.filter((args) => spawnSync('promtool', args, { stdio: 'inherit' }).status !== 0);
  if (failed.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** What Grafana puts in for its variables. */
function toRule(query: string, index: number) {
  const expr = query.replaceAll('$__rate_interval', '5m').replace(/\$(job|instance)\b/g, '.+');
  return { record: `dashboard:${index}`, expr };
}
