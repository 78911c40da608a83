/** Requests about monitors over REST and gRPC. */

import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { MonitorExecutionMode, MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc, type SurfaceCase } from '../../support/surfaces.ts';

const { listMonitors, getMonitorBacklog, getMonitor, toggleMonitor, deleteMonitor } = MonitorService.method;
export const { createMonitor, updateMonitor } = MonitorService.method;

type Headers = { readonly [name: string]: string };
export type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

const MODES: { readonly [word: string]: MonitorExecutionMode } = {
  ON_MESSAGE: MonitorExecutionMode.ON_MESSAGE,
  AS_GUARDRAIL: MonitorExecutionMode.AS_GUARDRAIL,
  MANUALLY: MonitorExecutionMode.MANUALLY,
};

/** Converts a REST body to message fields. */
function fieldsOf(body: Body) {
  const { preconditions, mappings, mapping, parameters, executionMode, ...plain } = body;
  const json = (name: string, value: unknown) => (value === undefined ? {} : { [name]: JSON.stringify(value) });
  const listed = preconditions?.map(({ value, ...rest }: Body) => ({ ...rest, ...json('valueJson', value) }));
  return {
    ...plain,
    ...(listed === undefined ? {} : { preconditions: listed }),
    ...json('mappingsJson', mappings),
    ...json('mappingJson', mapping),
    ...json('parametersJson', parameters),
    ...(executionMode === undefined ? {} : { executionMode: MODES[executionMode] ?? 99 }),
  };
}

/** A client with the app's project key, or another credential. */
export function createClient(app: () => TestApp) {
  const key = (): Headers => ({ 'x-auth-token': app().projectKey });
  const rest = (verb: string, path: string, body?: unknown, headers = key()) =>
    callRest(app().address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  return {
    key,
    rest,
    async evaluator(config: object = { evaluatorType: 'langevals/exact_match' }, headers = key()): Promise<Body> {
      const request = { name: 'Judge', configJson: JSON.stringify(config) };
      const answer = await callRpc(app().address, {
        method: EvaluatorService.method.createEvaluator,
        headers,
        request,
      });
      if (!answer.ok) throw new Error(answer.error.details);
      return answer.body;
    },
    async make(body: object, headers = key()): Promise<Body> {
      const answer = await rest('POST', '/api/monitors', body, headers);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    list: (expected: Expected): SurfaceCase => ({
      name: 'list',
      headers: key(),
      rest: { path: '/api/monitors' },
      rpc: { method: listMonitors, request: {} },
      ...expected,
    }),
    backlog: (expected: Expected): SurfaceCase => ({
      name: 'backlog',
      headers: key(),
      rest: { path: '/api/monitors/backlog' },
      rpc: { method: getMonitorBacklog, request: {} },
      ...expected,
    }),
    get: (idOrSlug: string, expected: Expected): SurfaceCase => ({
      name: `get ${idOrSlug}`,
      headers: key(),
      rest: { path: `/api/monitors/${encodeURIComponent(idOrSlug)}` },
      rpc: { method: getMonitor, request: { idOrSlug } },
      ...expected,
    }),
    create: (body: Body, expected: Expected): SurfaceCase => ({
      name: `create ${JSON.stringify(body)}`,
      headers: key(),
      rest: { verb: 'POST', path: '/api/monitors', body },
      rpc: { method: createMonitor, request: fieldsOf(body) },
      ...expected,
    }),
    update: (id: string, body: Body, expected: Expected): SurfaceCase => ({
      name: `update ${JSON.stringify(body)}`,
      headers: key(),
      rest: { verb: 'PATCH', path: `/api/monitors/${encodeURIComponent(id)}`, body },
      rpc: { method: updateMonitor, request: { idOrSlug: id, monitor: fieldsOf(body) } },
      ...expected,
    }),
    toggle: (id: string, enabled: boolean, expected: Expected): SurfaceCase => ({
      name: `toggle ${enabled}`,
      headers: key(),
      rest: { verb: 'POST', path: `/api/monitors/${encodeURIComponent(id)}/toggle`, body: { enabled } },
      rpc: { method: toggleMonitor, request: { idOrSlug: id, enabled } },
      ...expected,
    }),
    remove: (id: string, expected: Expected): SurfaceCase => ({
      name: `delete ${id}`,
      headers: key(),
      rest: { verb: 'DELETE', path: `/api/monitors/${encodeURIComponent(id)}` },
      rpc: { method: deleteMonitor, request: { idOrSlug: id } },
      ...expected,
    }),
  };
}
