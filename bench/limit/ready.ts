import type { AddressInfo } from 'node:net';

/** Says where the program listens in the line the server itself uses, so that one reader serves both. */
export function sayReady(address: AddressInfo | string | number | null): void {
  if (address === null) throw new Error('The program is not listening.');
  const port = typeof address === 'number' ? address : typeof address === 'string' ? 0 : address.port;
  process.stderr.write(`${JSON.stringify({ msg: 'ready', address: `http://127.0.0.1:${port}` })}\n`);
}

/** Ends the program with the harness: its end of stdin closes even when it is killed outright. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(0)).resume();
}
