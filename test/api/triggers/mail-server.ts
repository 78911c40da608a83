/** A small mail server that keeps what it receives. */

import { type AddressInfo, createServer, type Socket } from 'node:net';

export type ReceivedMail = { readonly to: readonly string[]; readonly text: string };
export type MailServer = {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Answers recipients with this code from now on; null: accepts them. */
  refuse(code: number | null): void;
  close(): Promise<void>;
};

export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let refusal: number | null = null;
  const server = createServer((socket) => serve(socket, { received, refusal: () => refusal }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    refuse(code) {
      refusal = code;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

type Serving = { readonly received: ReceivedMail[]; readonly refusal: () => number | null };

function serve(socket: Socket, { received, refusal }: Serving): void {
  let to: string[] = [];
  let text: string[] | null = null;
  let rest = '';
  socket.on('error', () => socket.destroy());
  socket.write('220 mail\r\n');
  socket.on('data', (bytes) => {
    rest += bytes.toString();
    for (let end = rest.indexOf('\r\n'); end !== -1; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      socket.write(answer(line));
      if (line === 'QUIT') socket.end();
    }
  });

  function answer(line: string): string {
    if (text !== null) {
      if (line !== '.') {
        text.push(line);
        return '';
      }
      received.push({ to, text: text.join('\n') });
      [to, text] = [[], null];
      return '250 kept\r\n';
    }
    if (line.startsWith('RCPT TO:')) {
      const code = refusal();
      if (code !== null) return `${code} refused\r\n`;
      to.push(/<(.*)>/.exec(line)?.[1] ?? '');
    }
    if (line !== 'DATA') return line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n';
    text = [];
    return '354 go on\r\n';
  }
}
