/** What dashboard and alert rules say, and which metrics and labels their queries name. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
};

type Rules = { readonly groups: readonly { readonly rules: readonly Alert[] }[] };

export function readRules(): Rules {
  return parse(read('deploy/prometheus/rules.yaml'));
}

/** The same in the form of the operator of Prometheus. */
export function readOperatorRules(): Rules {
  return parse(read('deploy/kubernetes/monitoring/prometheus-rule.yaml')).spec;
}

type Panel = {
  readonly id: number;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
};

type Dashboard = {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};

export function readDashboard(): Dashboard {
  return JSON.parse(read('deploy/grafana/spandrel.json'));
}

export function dashboardQueries(): string[] {
  return readDashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** A query, with the templates of texts that show its result. */
export type Use = { readonly place: string; readonly query: string; readonly texts: string };

export function readUses(): Use[] {
  const alerts = readRules().groups.flatMap(({ rules }) => rules);
  const { panels, templating } = readDashboard();
  const variables = templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query]));
  return [
    ...alerts.map(({ alert, expr, annotations }) => ({ place: alert, query: expr, texts: annotations.summary })),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat = '' }) => ({ place: title, query: expr, texts: legendFormat })),
    ),
    ...variables.map((query) => ({ place: 'a variable', query, texts: '' })),
  ];
}

type Matcher = { readonly label: string; readonly operator: string; readonly value: string };

export type Named = {
  readonly metrics: readonly { readonly name: string; readonly matchers: readonly Matcher[] }[];
  /** Labels that the query or a text keeps, apart from matchers. */
  readonly labels: readonly string[];
};

const WORDS = new Set(['and', 'or', 'unless']);
const MATCHER = /([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;
/** The last parameter of a query for the values of a variable. */
const OF_VARIABLE = /^(label_values\(.*),\s*([a-z_]+)\)$/;
/** The matchers of a selector, a number, or a word and whether it is a function. */
const TOKEN = /\{([^}]*)\}|\d[\w.]*|([a-z_]\w*)(\s*\()?/gi;

/** Reads the queries that are in those files, not all that PromQL can say. */
export function namedBy({ query, texts }: Use): Named {
  const grouped = [...query.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(','));
  const shown = [...texts.matchAll(/\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}/g)].map(([, label = '']) => label);
  const [, withoutLabel, ofVariable] = OF_VARIABLE.exec(query) ?? [];
  const plain = (withoutLabel ?? query).replace(GROUPING, '').replace(/\[[^\]]*\]/g, '');
  const metrics: { name: string; matchers: Matcher[] }[] = [];
  for (const [, braces, word, isFunction] of plain.matchAll(TOKEN)) {
    if (braces !== undefined) metrics.at(-1)?.matchers.push(...matchersOf(braces));
    else if (word !== undefined && isFunction === undefined && !WORDS.has(word))
      metrics.push({ name: word, matchers: [] });
  }
  const labels = [...grouped, ...shown, ...(ofVariable === undefined ? [] : [ofVariable])];
  return { metrics, labels: labels.map((label) => label.trim()) };
}

function matchersOf(braces: string): Matcher[] {
  return [...braces.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({ label, operator, value }));
}
