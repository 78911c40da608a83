import type { Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { refusedRequests } from '../load/requests.ts';
import { mintKeys, startLimit, startServer } from '../sides.ts';

const connections = 64;

export const authRefuse: Row = {
  name: 'auth-refuse',
  about: 'unknown admin keys with a valid checksum against a constant 401',
  async run(bench) {
    const createRequests = refusedRequests();
    const { product, reference } = await compare(bench, {
      startReference: () => startLimit('refuse', []),
      startProduct: () => startServer(bench, mintKeys()),
      load: (port, stop) => runHttpLoad({ ports: [port], connections, stop, expectedStatus: 401, createRequests }),
    });
    const value = product.perSecond;
    const unit = 'requests/s';
    return [
      judge({ name: 'auth-refuse', value, unit, reference: reference.perSecond }, { of: 'ratio', atLeast: 0.5 }),
      judge({ name: 'auth-refuse-rate', value, unit, reference: null }, { of: 'value', atLeast: 20_000 }),
    ];
  },
};
