/** Requests about triggers over REST and gRPC. */

import {
  TriggerAction,
  TriggerAlertType,
  TriggerCadence,
  TriggerKind,
  TriggerNoData,
  TriggerOperator,
  TriggerService,
} from '../../../gen/spandrel/v1/triggers_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest, type SurfaceCase } from '../../support/surfaces.ts';

const { listTriggers, getTrigger, listTriggerHistory, createTrigger, updateTrigger, deleteTrigger } =
  TriggerService.method;

type Headers = { readonly [name: string]: string };
export type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

const CADENCES: { readonly [word: string]: TriggerCadence } = {
  immediate: TriggerCadence.IMMEDIATE,
  '5min': TriggerCadence.MINUTES5,
  '15min': TriggerCadence.MINUTES15,
  hourly: TriggerCadence.HOURLY,
};
const WORDS: { readonly [field: string]: object } = {
  kind: TriggerKind,
  alertType: TriggerAlertType,
  action: TriggerAction,
  operator: TriggerOperator,
  noData: TriggerNoData,
};

function filtersOf(byName: Body): Body {
  return Object.entries<Body>(byName).flatMap(([name, held]): Body[] =>
    Array.isArray(held)
      ? [{ name, values: held }]
      : Object.entries(held ?? {}).map(([key, values]) => ({ name, key, values })),
  );
}

function paramsOf({ members, ...params }: Body): Body {
  return members === undefined ? params : { ...params, members: { addresses: members } };
}

/** Converts a REST body to message fields. */
function fieldsOf(body: Body): Body {
  const { filters, actionParams, cadence, ...plain } = body;
  const words = Object.entries(WORDS).flatMap(([field, values]) =>
    plain[field] === undefined
      ? []
      : [[field, (values as { [name: string]: number })[String(plain[field]).toUpperCase()] ?? 99]],
  );
  return {
    ...plain,
    ...Object.fromEntries(words),
    ...(cadence === undefined ? {} : { cadence: CADENCES[cadence] ?? 99 }),
    ...(filters === undefined ? {} : { filters: filtersOf(filters ?? {}) }),
    ...(actionParams == null ? {} : { actionParams: paramsOf(actionParams) }),
  };
}

export const ON_ERRORS = { name: 'Any error', filters: { 'traces.error': ['true'] }, action: 'SEND_WEBHOOK' };
export const ERROR_SHARE = {
  name: 'Errors above 5 %',
  kind: 'metric',
  action: 'SEND_WEBHOOK',
  series: { metric: 'errors', aggregation: 'share' },
  operator: 'gt',
  thresholds: { alert: 5 },
  windowMinutes: 5,
};

/** A client with the app's project key. */
export function createClient(app: () => TestApp) {
  const key = (): Headers => ({ 'x-auth-token': app().projectKey });
  const rest = (verb: string, path: string, body?: unknown, headers = key()) =>
    callRest(app().address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  const path = (id: string) => `/api/triggers/${encodeURIComponent(id)}`;
  return {
    key,
    rest,
    async make(body: object): Promise<Body> {
      const answer = await rest('POST', '/api/triggers', body);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    read: async (id: string): Promise<Body> => (await rest('GET', path(id))).body,
    history: async (id: string): Promise<Body[]> => (await rest('GET', `${path(id)}/history?limit=200`)).body.data,
    list: (expected: Expected): SurfaceCase => ({
      name: 'list',
      headers: key(),
      rest: { path: '/api/triggers' },
      rpc: { method: listTriggers, request: {} },
      ...expected,
    }),
    get: (id: string, expected: Expected): SurfaceCase => ({
      name: `get ${id}`,
      headers: key(),
      rest: { path: path(id) },
      rpc: { method: getTrigger, request: { id } },
      ...expected,
    }),
    listHistory: (id: string, cursor: string, expected: Expected): SurfaceCase => ({
      name: `history of ${id}`,
      headers: key(),
      rest: { path: `${path(id)}/history?limit=1&cursor=${encodeURIComponent(cursor)}` },
      rpc: { method: listTriggerHistory, request: { id, pageSize: 1, pageToken: cursor } },
      ...expected,
    }),
    create: (body: Body, expected: Expected): SurfaceCase => ({
      name: `create ${JSON.stringify(body)}`,
      headers: key(),
      rest: { verb: 'POST', path: '/api/triggers', body },
      rpc: { method: createTrigger, request: fieldsOf(body) },
      ...expected,
    }),
    update: (id: string, body: Body, expected: Expected): SurfaceCase => ({
      name: `update ${JSON.stringify(body)}`,
      headers: key(),
      rest: { verb: 'PATCH', path: path(id), body },
      rpc: { method: updateTrigger, request: { id, trigger: fieldsOf(body) } },
      ...expected,
    }),
    remove: (id: string, expected: Expected): SurfaceCase => ({
      name: `delete ${id}`,
      headers: key(),
      rest: { verb: 'DELETE', path: path(id) },
      rpc: { method: deleteTrigger, request: { id } },
      ...expected,
    }),
  };
}
