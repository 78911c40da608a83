import type { Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { cycle } from '../load/requests.ts';
import { mintKeys, startLimit, startServer } from '../sides.ts';

const connections = 64;
const path = '/api/evaluations/langevals/exact_match/evaluate';

export const evaluate: Row = {
  name: 'evaluate',
  about: 'a run of exact_match against its bare function over HTTP',
  async run(bench) {
    const keys = mintKeys();
    const createRequests = cycle([runRequest(keys.projectKey)]);
    const { product, reference } = await compare(bench, {
      startReference: () => startLimit('evaluate', []),
      startProduct: () => startServer(bench, keys),
      load: (port, stop) => runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests }),
      checkProduct(body) {
        if (JSON.parse(body.toString()).passed !== true) throw new Error(`the run did not pass: ${body}`);
      },
    });
    const figure = { name: 'evaluate', value: product.perSecond, unit: 'runs/s', reference: reference.perSecond };
    return [judge(figure, { of: 'ratio', atLeast: 0.5 })];
  },
};

function runRequest(projectKey: string): Buffer {
  const body = JSON.stringify({ data: { output: 'Hello, World!', expected_output: 'hello world' } });
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-Auth-Token: ${projectKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '\r\n',
  ];
  return Buffer.from(head.join('\r\n') + body, 'latin1');
}
