/** Which addresses of queues are taken, what they say, and which roles a queue may be reached with. */

export type QueueService = {
  /** The operator's own service, which then takes every message; null: Amazon's. */
  readonly endpoint: string | null;
  /** The region of queues at the operator's own service. */
  readonly region: string;
};

export type QueueAddress = {
  readonly queueUrl: string;
  readonly region: string;
  /** Twelve digits. */
  readonly accountId: string;
  readonly queueName: string;
  /** Where messages are sent: built from the parts of the address, never its host as written. */
  readonly endpoint: string;
  /** The token service for roles, unless the operator configured another one. */
  readonly tokenEndpoint: string;
};

type QueueUrlCheck =
  | { readonly kind: 'queue'; readonly queue: QueueAddress }
  | { readonly kind: 'problem'; readonly problem: string };

type AmazonHost = { readonly region: string; readonly isFips: boolean; readonly suffix: string };

/**
 * Names of AWS regions: eu-central-1, us-gov-west-1, us-iso-east-1, eusc-de-east-1. Only Amazon has hosts of this
 * shape; a name such as s3 would allow hosts of anyone.
 */
const REGION =
  /^(?:[a-z]{2}(?:-gov|-iso[a-z]?)?|eusc-[a-z]{2})-(?:central|north|south|east|west|(?:north|south)(?:east|west))-[1-9][0-9]?$/;
const QUEUE_PATH = /^\/([0-9]{12})\/([A-Za-z0-9_-]{1,80})$/;
/** LocalStack's addresses that name the region in the path. */
const QUEUE_PATH_BELOW_REGION = /^\/queue\/([a-z0-9-]+)(\/.*)$/;
const PARTITION = 'amazonaws\\.(?:com(?:\\.cn)?|eu)';
/** The forms of hosts that name a region, its FIPS variant in the first group, the domain of its services in the last. */
const REGION_HOSTS = [
  new RegExp(`^https://sqs(-fips)?\\.([a-z0-9-]+)\\.(${PARTITION}|api\\.aws)$`),
  new RegExp(`^https://()([a-z0-9-]+)\\.queue\\.(${PARTITION})$`),
  // Endpoints in a private network, and those in one zone of it.
  new RegExp(`^https://vpce-[a-z0-9-]+\\.sqs(-fips)?\\.([a-z0-9-]+)\\.vpce\\.(${PARTITION})$`),
];
/** The oldest form names no region. */
const FIRST_REGION_HOST = 'https://queue.amazonaws.com';
const FIRST_REGION = 'us-east-1';
const LOCALSTACK_HOST =
  /^https?:\/\/(?:sqs\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.localhost\.localstack\.cloud(?::[0-9]{1,5})?$/;
const DOMAINS: ReadonlyMap<string, string> = new Map([
  ['cn', 'amazonaws.com.cn'],
  ['eusc', 'amazonaws.eu'],
]);
const ROLE = /^arn:(?:aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role\/[\w+=,.@/-]{1,512}$/;

/** Checks the address of a queue, already trimmed. */
export function checkQueueUrl(queueUrl: string, service: QueueService): QueueUrlCheck {
  if (queueUrl.endsWith('.fifo')) return refuse('The queue must be a standard queue: this one is a FIFO queue.');
  const { host, path } = readAddress(queueUrl, service);
  const [, accountId, queueName] = QUEUE_PATH.exec(path) ?? [];
  if (accountId === undefined || queueName === undefined || host === null) {
    return refuse(
      'The queue URL must have the form https://sqs.<region>.amazonaws.com/<account of 12 digits>/<queue name>.',
    );
  }
  const endpoint = service.endpoint ?? `https://sqs${host.isFips ? '-fips' : ''}.${host.region}.${host.suffix}`;
  return {
    kind: 'queue',
    queue: { queueUrl, region: host.region, accountId, queueName, endpoint, tokenEndpoint: tokenEndpointOf(host) },
  };
}

/** The problem of a role's ARN; null when there is none. */
export function roleArnProblem(roleArn: string): string | null {
  return ROLE.test(roleArn)
    ? null
    : 'The role ARN must have the form arn:aws:iam::<account of 12 digits>:role/<role name>.';
}

function refuse(problem: string): QueueUrlCheck {
  return { kind: 'problem', problem };
}

/** Splits the text without parsing it: a parser would accept and correct texts that are not exactly of this form. */
function splitOrigin(queueUrl: string): { readonly origin: string; readonly path: string } {
  const pathAt = queueUrl.indexOf('/', queueUrl.indexOf('://') + '://'.length);
  return pathAt === -1
    ? { origin: queueUrl, path: '' }
    : { origin: queueUrl.slice(0, pathAt), path: queueUrl.slice(pathAt) };
}

/** The host, or null for one that is not a queue's, and the path below it. */
function readAddress(
  queueUrl: string,
  service: QueueService,
): { readonly host: AmazonHost | null; readonly path: string } {
  const { origin, path } = splitOrigin(queueUrl);
  const host = readAmazonHost(origin) ?? readLocalStackHost(origin, service);
  if (host !== null || service.endpoint === null || URL.parse(service.endpoint)?.origin !== origin)
    return { host, path };
  const [, region, below] = QUEUE_PATH_BELOW_REGION.exec(path) ?? [];
  if (region === undefined || below === undefined) return { host: hostIn(service.region), path };
  return { host: REGION.test(region) ? hostIn(region) : null, path: below };
}

function readAmazonHost(origin: string): AmazonHost | null {
  if (origin === FIRST_REGION_HOST) return hostIn(FIRST_REGION);
  for (const form of REGION_HOSTS) {
    const [, fips, region, suffix] = form.exec(origin) ?? [];
    if (region !== undefined && suffix !== undefined && REGION.test(region)) return { region, isFips: !!fips, suffix };
  }
  return null;
}

/** LocalStack gives out addresses of this form wherever it runs. Messages go to the operator's service, not to this host. */
function readLocalStackHost(origin: string, { endpoint }: QueueService): AmazonHost | null {
  if (endpoint === null) return null;
  const [, ofService, ofQueue] = LOCALSTACK_HOST.exec(origin) ?? [];
  const region = ofService ?? ofQueue ?? '';
  return REGION.test(region) ? hostIn(region) : null;
}

function hostIn(region: string): AmazonHost {
  const domain = /^(cn|eusc)-/.exec(region)?.[1] ?? '';
  return { region, isFips: false, suffix: DOMAINS.get(domain) ?? 'amazonaws.com' };
}

/** Government regions have no separate FIPS host: their usual one follows FIPS. */
function tokenEndpointOf({ region, isFips, suffix }: AmazonHost): string {
  const service = isFips && !region.startsWith('us-gov-') ? 'sts-fips' : 'sts';
  return `https://${service}.${region}.${suffix}`;
}
