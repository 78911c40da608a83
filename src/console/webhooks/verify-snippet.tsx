import { Snippet } from '../design/button.tsx';

const CODE = [
  "import { createServer } from 'node:http';",
  "import { Webhook } from 'standardwebhooks';",
  '',
  "const webhook = new Webhook('whsec_…');",
  'createServer(async (request, response) => {',
  '  const chunks = [];',
  '  for await (const chunk of request) chunks.push(chunk);',
  '  try {',
  '    const { batch } = webhook.verify(Buffer.concat(chunks), request.headers);',
  '    console.log(batch.map((event) => event.type));',
  '    response.writeHead(204).end();',
  '  } catch {',
  '    response.writeHead(401).end();',
  '  }',
  '}).listen(8080);',
].join('\n');

/** The code of a receiver that verifies signatures. */
export function VerifySnippet() {
  return <Snippet title="A receiver that verifies, in Node" code={CODE} />;
}
