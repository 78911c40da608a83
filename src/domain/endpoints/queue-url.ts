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
const SERVICE_HOST = /^https:\/\/sqs(-fips)?\.([a-z0-9-]+)\.(amazonaws\.com(?:\.cn)?)$/;
const QUEUE_HOST = /^https:\/\/([a-z0-9-]+)\.queue\.(amazonaws\.com(?:\.cn)?)$/;
const ROLE = /^arn:(?:aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role\/[\w+=,.@/-]{1,512}$/;

/** Checks the address of a queue, already trimmed. */
export function checkQueueUrl(queueUrl: string, service: QueueService): QueueUrlCheck {
  if (queueUrl.endsWith('.fifo')) return refuse('The queue must be a standard queue: this one is a FIFO queue.');
  const { origin, path } = splitOrigin(queueUrl);
  const [, accountId, queueName] = QUEUE_PATH.exec(path) ?? [];
  const host = readHost(origin, service);
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

function readHost(origin: string, { endpoint, region }: QueueService): AmazonHost | null {
  const [, fips, ofService, serviceSuffix] = SERVICE_HOST.exec(origin) ?? [];
  if (ofService !== undefined && serviceSuffix !== undefined) {
    return REGION.test(ofService) ? { region: ofService, isFips: fips !== undefined, suffix: serviceSuffix } : null;
  }
  const [, ofQueue, queueSuffix] = QUEUE_HOST.exec(origin) ?? [];
  if (ofQueue !== undefined && queueSuffix !== undefined) {
    return REGION.test(ofQueue) ? { region: ofQueue, isFips: false, suffix: queueSuffix } : null;
  }
  if (endpoint === null || URL.parse(endpoint)?.origin !== origin) return null;
  return { region, isFips: false, suffix: region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com' };
}

/** Government regions have no separate FIPS host: their usual one follows FIPS. */
function tokenEndpointOf({ region, isFips, suffix }: AmazonHost): string {
  const service = isFips && !region.startsWith('us-gov-') ? 'sts-fips' : 'sts';
  return `https://${service}.${region}.${suffix}`;
}
