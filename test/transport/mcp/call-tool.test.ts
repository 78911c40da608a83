import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/domain/fault.ts';
import { createCooperativeRunner } from '../../../src/domain/steps.ts';
import { callTool, type ToolDeps } from '../../../src/transport/mcp/call-tool.ts';
import type { ToolRequest } from '../../../src/transport/mcp/tool-parts.ts';
import { TOOLS } from '../../../src/transport/mcp/tools.ts';

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
const runCooperatively = createCooperativeRunner({ yieldToEventLoop, nowMs: () => performance.now() });
const toolOf = (name: string) => TOOLS.find((tool) => tool.name === name) as (typeof TOOLS)[number];

function traceOf(params: JsonValue) {
  return { trace_id: 't', metadata: {}, spans: [{ span_id: 's', params }], spans_next_cursor: null, ascii_tree: '' };
}

/** Runs a call, and returns its text with the longest processor time between two asks. */
async function measure(name: string, args: object, answer: ReturnType<typeof traceOf>) {
  let [longestMs, asks, from] = [0, 0, process.threadCpuUsage()];
  const lap = () => {
    const { user, system } = process.threadCpuUsage(from);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    from = process.threadCpuUsage();
  };
  const ask: ToolDeps['ask'] = async () => {
    lap();
    asks += 1;
    return answer;
  };
  const text = await callTool(toolOf(name), { ...args }, { ask, runCooperatively }).catch((error) => error.code);
  lap();
  return { text, longestMs, asks };
}

describe('a tool', () => {
  it.each<[string, JsonValue]>([
    ['numbers', Array(4_000_000).fill(1)],
    ['lists', Array(400_000).fill([[1]])],
    ['a text', 'x'.repeat(8_000_000)],
    ['long texts', Array(400_000).fill('é"'.repeat(50))],
  ])('takes little time to see that an answer of %s is too long', async (_name, params) => {
    const answer = traceOf(params);
    const runs = [];
    for (let run = 0; run < 3; run += 1) runs.push(await measure('get_trace', { trace_id: 't' }, answer));
    for (const { asks } of runs) expect(asks).toBeLessThan(8);
    expect(Math.min(...runs.map(({ longestMs }) => longestMs))).toBeLessThan(50);
  });

  it('asks for less where the answer of the route is too long to be read', async () => {
    const asked: ToolRequest[] = [];
    const ask: ToolDeps['ask'] = async (request) => {
      asked.push(request);
      return request.query?.spansLimit === 1 ? traceOf('one') : null;
    };
    const text = await callTool(toolOf('get_trace'), { trace_id: 't', limit: 500 }, { ask, runCooperatively });
    expect(JSON.parse(text).spans).toEqual([{ span_id: 's', params: 'one' }]);
    expect(asked.map(({ query }) => query?.spansLimit)).toEqual([500, 63, 8, 1]);
  });

  it('keeps numbers that are too wide for a double', async () => {
    const number = JSON.rawJSON('12345678901234567890') as unknown as JsonValue;
    const { text } = await measure('get_trace', { trace_id: 't' }, traceOf({ number, text: 'x'.repeat(30_000) }));
    expect(text).toContain('"number":12345678901234567890');
  });
});
