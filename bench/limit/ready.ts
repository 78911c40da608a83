import type { AddressInfo } from 'node:net';

/** Logs the address in the same line as the server, so that one parser reads both. */
export function sayReady(address: AddressInfo | string | number | null): void {
  if (address === null) throw new Error('The program is not listening.');
  const port = typeof address === 'number' ? address : typeof address === 'string' ? 0 : address.port;
  process.stderr.write(`${JSON.stringify({ msg: 'ready', address: `http://127.0.0.1:${port}` })}\n`);
}

/** Ends the program with the harness: a killed harness closes stdin too. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(0)).resume();
}
