/**
 * The parts of Amazon SQS (AWS JSON 1.0) and STS (query protocol) that senders use: checks signatures and sessions,
 * counts bytes like the real services, and fails on command.
 */

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Caller, canonicalRequest, isSignedBy, readCredential } from './queue-signature.ts';

export const ACCOUNT = '123456789012';
export const KEYS = {
  accessKeyId: 'AKIAQUEUETESTKEY0001',
  secretAccessKey: 'static/Secret+0123456789abcdefghijklmnop',
};
export const ROLE_ARN = `arn:aws:iam::${ACCOUNT}:role/webhook-sender`;
export const EXTERNAL_ID = 'lw-00112233445566778899aabbccddeeff';
const MESSAGE_MAX_BYTES = 262_144;

export type Attributes = { readonly [name: string]: { readonly DataType: string; readonly StringValue: string } };

export type Accepted = {
  readonly id: string;
  readonly queueUrl: string;
  readonly body: string;
  readonly attributes: Attributes;
  readonly region: string;
  readonly accessKeyId: string;
  readonly userAgent: string;
};

/** The misbehavior of one request, instead of an answer. */
export type Fault =
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'drip' }
  | { readonly kind: 'garbage' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/** `queryName`: the query protocol's name, sent in a header. */
export type Refusal = {
  readonly status: number;
  readonly name: string;
  readonly message: string;
  readonly queryName?: string;
};

export type QueueServer = {
  readonly origin: string;
  readonly queueUrl: string;
  /** Accepted messages, in order. */
  readonly accepted: readonly Accepted[];
  /** Requests of any outcome, by service. */
  readonly calls: { sqs: number; sts: number; other: number };
  /** Parameters of session requests. */
  readonly sessionRequests: readonly URLSearchParams[];
  /** Every secret that was ever valid here. */
  secrets(): readonly string[];
  /** Applies one fault to each of the next requests. */
  misbehave(service: 'sqs' | 'sts', ...faults: readonly Fault[]): void;
  /** Ends all sessions so far. */
  expireSessions(): void;
  close(): Promise<void>;
};

class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

type Session = Caller & { isOver: boolean };
type Request = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly body: Buffer };

export async function startQueueServer(): Promise<QueueServer> {
  const accepted: Accepted[] = [];
  const sessionRequests: URLSearchParams[] = [];
  const calls = { sqs: 0, sts: 0, other: 0 };
  const faults: { sqs: Fault[]; sts: Fault[] } = { sqs: [], sts: [] };
  const sessions = new Map<string, Session>();
  const sockets = new Set<Socket>();

  function authenticate({ request, body }: Request, service: string) {
    const credential = readCredential(request);
    if (credential === null || credential.service !== service)
      throw refused(403, 'IncompleteSignature', 'No signature.');
    const session = sessions.get(credential.accessKeyId);
    const caller = credential.accessKeyId === KEYS.accessKeyId ? { ...KEYS, sessionToken: null } : session;
    if (caller === undefined || (request.headers['x-amz-security-token'] ?? null) !== caller.sessionToken) {
      throw refused(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    }
    if (session?.isOver) throw refused(403, 'ExpiredToken', 'The security token included in the request is expired');
    if (!isSignedBy(request, body, caller)) {
      const canonical = canonicalRequest(request, body, 'authorization;host;x-amz-date;x-amz-security-token');
      throw refused(
        403,
        'SignatureDoesNotMatch',
        `The request signature we calculated does not match the signature you provided.\n\nThe Canonical String for this request should have been\n'${canonical}'`,
      );
    }
    return credential;
  }

  function takeMessage(call: Request): object {
    const { accessKeyId, region } = authenticate(call, 'sqs');
    const { headers } = call.request;
    if (
      headers['content-type'] !== 'application/x-amz-json-1.0' ||
      headers['x-amz-target'] !== 'AmazonSQS.SendMessage'
    ) {
      throw refused(400, 'UnsupportedOperation', 'Only SendMessage is known here.');
    }
    const sent = JSON.parse(call.body.toString());
    const attributes: Attributes = sent.MessageAttributes ?? {};
    const bytes = Object.entries(attributes)
      .flatMap(([name, { DataType, StringValue }]) => [name, DataType, StringValue])
      .reduce((sum, text) => sum + Buffer.byteLength(text), Buffer.byteLength(sent.MessageBody));
    if (bytes > MESSAGE_MAX_BYTES) {
      throw refused(400, 'InvalidParameterValue', `Message must be shorter than ${MESSAGE_MAX_BYTES} bytes.`);
    }
    const id = randomUUID();
    const userAgent = String(headers['user-agent']);
    accepted.push({ id, queueUrl: sent.QueueUrl, body: sent.MessageBody, attributes, region, accessKeyId, userAgent });
    return {
      MessageId: id,
      MD5OfMessageBody: md5(sent.MessageBody),
      MD5OfMessageAttributes: md5OfAttributes(attributes),
    };
  }

  function giveSession(call: Request): string {
    authenticate(call, 'sts');
    const parameters = new URLSearchParams(call.body.toString());
    sessionRequests.push(parameters);
    if (parameters.get('RoleArn') !== ROLE_ARN || parameters.get('ExternalId') !== EXTERNAL_ID) {
      throw refused(
        403,
        'AccessDenied',
        `User: arn:aws:iam::${ACCOUNT}:user/base is not authorized to perform: sts:AssumeRole with ExternalId ${parameters.get('ExternalId')}`,
      );
    }
    const number = sessions.size + 1;
    const accessKeyId = `ASIASESSIONKEY${String(number).padStart(6, '0')}`;
    const session = {
      secretAccessKey: `session/Secret+${number}`,
      sessionToken: `session-token-${number}`,
      isOver: false,
    };
    sessions.set(accessKeyId, session);
    const endsAt = new Date(Date.now() + Number(parameters.get('DurationSeconds')) * 1_000).toISOString();
    return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${session.secretAccessKey}</SecretAccessKey><SessionToken>${session.sessionToken}</SessionToken><Expiration>${endsAt}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  }

  function answer(call: Request): void {
    const service = serviceOf(call.request);
    calls[service] += 1;
    const fault = service === 'other' ? undefined : faults[service].shift();
    try {
      if (service === 'other') throw refused(404, 'NotFound', 'Nobody should come here.');
      if (fault?.kind === 'refuse') throw new Refused(fault.refusal);
      if (fault !== undefined) spoil(call, fault);
      else if (service === 'sqs') reply(call, 200, JSON.stringify(takeMessage(call)));
      else reply(call, 200, giveSession(call));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refuse(call, error.refusal);
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer({ request, response, body: Buffer.concat(chunks) });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    queueUrl: `${origin}/${ACCOUNT}/events`,
    accepted,
    calls,
    sessionRequests,
    secrets: () => [
      KEYS.accessKeyId,
      KEYS.secretAccessKey,
      EXTERNAL_ID,
      ...[...sessions].flatMap(([id, { secretAccessKey, sessionToken }]) => [id, secretAccessKey, sessionToken ?? '']),
    ],
    misbehave: (service, ...more) => faults[service].push(...more),
    expireSessions() {
      for (const session of sessions.values()) session.isOver = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function serviceOf({ method, headers }: IncomingMessage): 'sqs' | 'sts' | 'other' {
  if (method !== 'POST') return 'other';
  return headers['content-type']?.startsWith('application/x-www-form-urlencoded') ? 'sts' : 'sqs';
}

function refused(status: number, name: string, message: string): Refused {
  return new Refused({ status, name, message });
}

function refuse(call: Request, { status, name, message, queryName }: Refusal): void {
  if (serviceOf(call.request) === 'sts') {
    const error = `<Error><Type>Sender</Type><Code>${name}</Code><Message>${message}</Message></Error>`;
    reply(call, status, `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`);
    return;
  }
  if (queryName !== undefined) call.response.setHeader('x-amzn-query-error', `${queryName};Sender`);
  reply(call, status, JSON.stringify({ __type: `com.amazonaws.sqs#${name}`, message }));
}

function reply({ request, response }: Request, status: number, body: string): void {
  const type = serviceOf(request) === 'sts' ? 'text/xml' : 'application/x-amz-json-1.0';
  response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': randomUUID() }).end(body);
}

function spoil({ request, response }: Request, { kind }: Fault): void {
  if (kind === 'reset') request.socket.resetAndDestroy();
  if (kind === 'garbage') response.writeHead(503, { 'content-type': 'text/html' }).end('<html>busy</html>');
  // The rest never comes.
  if (kind === 'drip') response.writeHead(200, { 'content-length': 100 }).write('{"MessageId":');
}

function md5(content: string | Buffer): string {
  return createHash('md5').update(content).digest('hex');
}

/** Hashes names in order; each text follows its length, each value also a 1 (type string). */
function md5OfAttributes(attributes: Attributes): string {
  const withLength = (text: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const parts = Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, { DataType, StringValue }]) => [
      withLength(name),
      withLength(DataType),
      Buffer.from([1]),
      withLength(StringValue),
    ]);
  return md5(Buffer.concat(parts));
}
