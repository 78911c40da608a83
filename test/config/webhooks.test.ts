import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

function problemsOf(environment: { [name: string]: string }): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the settings of webhooks', () => {
  it('open nothing and lend nothing unless they say so', () => {
    expect(readConfig({})).toMatchObject({
      webhooks: { allow: [], concurrencyMax: 2048, attemptsPerHourMax: null, endpointsMax: 5000 },
      aws: { isAmbientAllowed: false, sqsEndpoint: null, stsEndpoint: null, region: 'us-east-1' },
    });
  });

  it.each([
    ['SPANDREL_WEBHOOK_CONCURRENCY', '0'],
    ['SPANDREL_WEBHOOK_CONCURRENCY', '16385'],
    ['SPANDREL_WEBHOOK_MAX_PER_HOUR', '0'],
    ['SPANDREL_WEBHOOK_MAX_PER_HOUR', '1000000001'],
    ['SPANDREL_WEBHOOK_MAX_ENDPOINTS', '0'],
    ['SPANDREL_WEBHOOK_MAX_ENDPOINTS', '100001'],
    ['SPANDREL_WEBHOOK_MAX_ENDPOINTS', '1e3'],
    ['SPANDREL_WEBHOOK_ALLOW', '10.0.0.0/33'],
    ['SPANDREL_WEBHOOK_ALLOW', 'localhost,,10.0.0.1'],
    ['AWS_ENDPOINT_URL_SQS', 'localhost:4566'],
    ['AWS_ENDPOINT_URL_STS', 'ftp://localhost'],
  ])('%s=%s stops the start with one line that names it', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} [^\\n]+$`));
  });

  it('the credentials of the server are lent by 1 and by nothing else', () => {
    const isAllowed = (value: string) => readConfig({ SPANDREL_ALLOW_AMBIENT_AWS: value }).aws.isAmbientAllowed;
    expect(isAllowed('1')).toBe(true);
    for (const value of ['', '0', 'true', 'on', '01', '1 1']) expect(isAllowed(value)).toBe(false);
  });

  it('the region of queues is the one that tools for AWS would take', () => {
    const regionOf = (environment: { [name: string]: string }) => readConfig(environment).aws.region;
    expect(regionOf({ AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' })).toBe('eu-west-1');
    expect(regionOf({ AWS_DEFAULT_REGION: 'eu-west-2' })).toBe('eu-west-2');
  });
});
