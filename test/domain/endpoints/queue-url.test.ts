import { describe, expect, it } from 'vitest';
import { checkQueueUrl, type QueueService, roleArnProblem } from '../../../src/domain/endpoints/queue-url.ts';

const AMAZON: QueueService = { endpoint: null, region: 'us-east-1' };
const OWN: QueueService = { endpoint: 'http://localhost:4566/', region: 'eu-north-1' };
const ACCOUNT = '123456789012';

const judged = (queueUrl: string, service = AMAZON) => {
  const verdict = checkQueueUrl(queueUrl, service);
  return verdict.kind === 'queue' ? verdict.queue : verdict.problem;
};

describe('the address of a queue', () => {
  it.each([
    ['sqs.eu-west-1.amazonaws.com', 'eu-west-1', 'sqs.eu-west-1.amazonaws.com', 'sts.eu-west-1.amazonaws.com'],
    ['eu-west-1.queue.amazonaws.com', 'eu-west-1', 'sqs.eu-west-1.amazonaws.com', 'sts.eu-west-1.amazonaws.com'],
    [
      'sqs.cn-north-1.amazonaws.com.cn',
      'cn-north-1',
      'sqs.cn-north-1.amazonaws.com.cn',
      'sts.cn-north-1.amazonaws.com.cn',
    ],
    [
      'cn-north-1.queue.amazonaws.com.cn',
      'cn-north-1',
      'sqs.cn-north-1.amazonaws.com.cn',
      'sts.cn-north-1.amazonaws.com.cn',
    ],
    [
      'sqs-fips.us-west-2.amazonaws.com',
      'us-west-2',
      'sqs-fips.us-west-2.amazonaws.com',
      'sts-fips.us-west-2.amazonaws.com',
    ],
    [
      'sqs-fips.us-gov-west-1.amazonaws.com',
      'us-gov-west-1',
      'sqs-fips.us-gov-west-1.amazonaws.com',
      'sts.us-gov-west-1.amazonaws.com',
    ],
    [
      'sqs.eusc-de-east-1.amazonaws.eu',
      'eusc-de-east-1',
      'sqs.eusc-de-east-1.amazonaws.eu',
      'sts.eusc-de-east-1.amazonaws.eu',
    ],
    ['queue.amazonaws.com', 'us-east-1', 'sqs.us-east-1.amazonaws.com', 'sts.us-east-1.amazonaws.com'],
    ['sqs.us-east-1.api.aws', 'us-east-1', 'sqs.us-east-1.api.aws', 'sts.us-east-1.api.aws'],
    [
      'vpce-0a1b-abcd.sqs.us-east-1.vpce.amazonaws.com',
      'us-east-1',
      'sqs.us-east-1.amazonaws.com',
      'sts.us-east-1.amazonaws.com',
    ],
    [
      'vpce-0a1b-abcd-us-east-1a.sqs.us-east-1.vpce.amazonaws.com',
      'us-east-1',
      'sqs.us-east-1.amazonaws.com',
      'sts.us-east-1.amazonaws.com',
    ],
  ])('%s says the region and the services', (host, region, service, tokens) => {
    const queueUrl = `https://${host}/${ACCOUNT}/My_queue-1`;
    expect(judged(queueUrl)).toEqual({
      queueUrl,
      region,
      accountId: ACCOUNT,
      queueName: 'My_queue-1',
      endpoint: `https://${service}`,
      tokenEndpoint: `https://${tokens}`,
    });
  });

  it.each([
    ['no address', 'queue'],
    ['empty', ''],
    ['http', `http://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['a foreign host', `https://sqs.eu-west-1.example.com/${ACCOUNT}/q`],
    ['a host that only begins like one', `https://sqs.eu-west-1.amazonaws.com.example.com/${ACCOUNT}/q`],
    ['a host that only ends like one', `https://evil-sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['another service', `https://sns.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['no region', `https://sqs.amazonaws.com/${ACCOUNT}/q`],
    ['another domain of Amazon', `https://sqs.eu-west-1.amazonaws.de/${ACCOUNT}/q`],
    ['a dual stack host of another service', `https://sns.eu-west-1.api.aws/${ACCOUNT}/q`],
    ['a private endpoint of another service', `https://vpce-0a1b-abcd.s3.eu-west-1.vpce.amazonaws.com/${ACCOUNT}/q`],
    ['a private endpoint with another name', `https://x.sqs.eu-west-1.vpce.amazonaws.com/${ACCOUNT}/q`],
    [
      "LocalStack's host, without the operator's service",
      `http://sqs.eu-west-1.localhost.localstack.cloud:4566/${ACCOUNT}/q`,
    ],
    ['a region in the path', `https://sqs.eu-west-1.amazonaws.com/queue/eu-west-1/${ACCOUNT}/q`],
    ['a region of two labels', `https://sqs.a.b.amazonaws.com/${ACCOUNT}/q`],
    ['capitals', `https://SQS.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['a port', `https://sqs.eu-west-1.amazonaws.com:443/${ACCOUNT}/q`],
    ['a user', `https://u:p@sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['a query', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q?a=b`],
    ['a fragment', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q#a`],
    ['an account of 11 digits', 'https://sqs.eu-west-1.amazonaws.com/12345678901/q'],
    ['an account of 13 digits', 'https://sqs.eu-west-1.amazonaws.com/1234567890123/q'],
    ['no queue name', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/`],
    ['a path below', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q/r`],
    ['a name of 81 characters', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/${'q'.repeat(81)}`],
    ['a name with a full stop', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/a.b`],
    ['a backslash', `https:\\\\sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q`],
    ['a newline at its end', `https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q\n`],
    ["the operator's service, when there is none", `http://localhost:4566/${ACCOUNT}/q`],
  ])('is refused: %s', (_what, queueUrl) => {
    expect(judged(queueUrl)).toContain('The queue URL must have the form');
  });

  it.each([
    'af-south-1',
    'ap-east-2',
    'ap-northeast-3',
    'ap-southeast-7',
    'ca-central-1',
    'cn-north-1',
    'cn-northwest-1',
    'eu-central-1',
    'eusc-de-east-1',
    'il-central-1',
    'me-south-1',
    'mx-central-1',
    'sa-east-1',
    'us-east-1',
    'us-gov-east-1',
    'us-gov-west-1',
    'us-iso-east-1',
    'us-isob-east-1',
    'us-isof-south-1',
    'eu-isoe-west-1',
  ])('is accepted in the region %s', (region) => {
    expect(judged(`https://sqs.${region}.amazonaws.com/${ACCOUNT}/q`)).toMatchObject({ region });
    expect(judged(`https://${region}.queue.amazonaws.com/${ACCOUNT}/q`)).toMatchObject({ region });
  });

  // Some are names that other AWS customers can own, such as a bucket called sqs.
  it.each([
    's3',
    's3-us-west-2',
    's3-external-1',
    's3-website-us-east-1',
    'elb',
    'compute-1',
    'execute-api',
    'eu-west',
    'eu-west-',
    'eu-west-0',
    'eu-west-100',
    'eu-west-1a',
    'eu-west-1-2',
    '-eu-west-1',
    'eu--west-1',
    'eu-nowhere-1',
    'us-gov-gov-west-1',
    'eusc-east-1',
    'europe-west-1',
    '1',
    '-',
    '127',
    'x'.repeat(63),
  ])('is refused in %s, which is not a region', (region) => {
    for (const host of [`sqs.${region}`, `sqs-fips.${region}`, `${region}.queue`]) {
      expect(judged(`https://${host}.amazonaws.com/${ACCOUNT}/q`)).toContain('The queue URL must have the form');
      expect(judged(`https://${host}.amazonaws.com/${ACCOUNT}/q`, OWN)).toContain('The queue URL must have the form');
    }
  });

  it('is accepted with a name of 80 characters', () => {
    expect(judged(`https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/${'q'.repeat(80)}`)).toMatchObject({
      region: 'eu-west-1',
    });
  });

  it('of a FIFO queue is recognized', () => {
    expect(judged(`https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q.fifo`)).toContain('standard queue');
    expect(judged(`http://localhost:4566/${ACCOUNT}/q.fifo`, OWN)).toContain('standard queue');
  });

  it("may be one of the operator's service, in the region of the settings", () => {
    expect(judged(`http://localhost:4566/${ACCOUNT}/q`, OWN)).toMatchObject({
      region: 'eu-north-1',
      accountId: ACCOUNT,
      queueName: 'q',
      endpoint: OWN.endpoint,
      tokenEndpoint: 'https://sts.eu-north-1.amazonaws.com',
    });
    expect(judged(`http://localhost:4567/${ACCOUNT}/q`, OWN)).toContain('must have the form');
  });

  it.each([
    `http://sqs.us-west-2.localhost.localstack.cloud:4566/${ACCOUNT}/q`,
    `http://us-west-2.queue.localhost.localstack.cloud:4566/${ACCOUNT}/q`,
    `http://localhost:4566/queue/us-west-2/${ACCOUNT}/q`,
  ])("may be one that LocalStack gives out, and goes to the operator's service: %s", (queueUrl) => {
    expect(judged(queueUrl, OWN)).toMatchObject({ region: 'us-west-2', queueName: 'q', endpoint: OWN.endpoint });
  });

  it.each([
    `http://sqs.nowhere.localhost.localstack.cloud:4566/${ACCOUNT}/q`,
    `http://localhost:4566/queue/nowhere/${ACCOUNT}/q`,
    `http://localhost:4567/queue/us-west-2/${ACCOUNT}/q`,
  ])('is refused in a region or at a service that is not there: %s', (queueUrl) => {
    expect(judged(queueUrl, OWN)).toContain('must have the form');
  });

  it("of Amazon goes to the operator's service too, in its own region", () => {
    expect(judged(`https://sqs.eu-west-1.amazonaws.com/${ACCOUNT}/q`, OWN)).toMatchObject({
      region: 'eu-west-1',
      endpoint: OWN.endpoint,
    });
  });
});

describe('the ARN of a role', () => {
  it.each([
    `arn:aws:iam::${ACCOUNT}:role/sender`,
    `arn:aws-cn:iam::${ACCOUNT}:role/path/to/a+b=c,d.e@f-g_h`,
    `arn:aws-us-gov:iam::${ACCOUNT}:role/${'r'.repeat(512)}`,
  ])('%s is accepted', (roleArn) => {
    expect(roleArnProblem(roleArn)).toBeNull();
  });

  it.each([
    'sender',
    `arn:aws:iam::${ACCOUNT}:role/`,
    `arn:aws:iam::${ACCOUNT}:user/sender`,
    `arn:aws:iam::12345:role/sender`,
    `arn:aws-iso:iam::${ACCOUNT}:role/sender`,
    `arn:aws:iam::${ACCOUNT}:role/a b`,
    `arn:aws:iam::${ACCOUNT}:role/a\n`,
    `arn:aws:iam::${ACCOUNT}:role/${'r'.repeat(513)}`,
  ])('%j is refused', (roleArn) => {
    expect(roleArnProblem(roleArn)).toContain('role ARN');
  });
});
