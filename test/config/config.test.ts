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

describe('settings', () => {
  it('an empty environment is a working configuration', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 5560,
      databaseUrl: 'sqlite:./data/spandrel.db',
      cors: '*',
      tls: null,
    });
  });

  it('texts move to ClickHouse from PostgreSQL alone, after two hours or more', () => {
    const SPANDREL_TELEMETRY_URL = 'clickhouse://localhost:8123/spandrel';
    const both = { SPANDREL_DATABASE_URL: 'postgres://localhost/spandrel', SPANDREL_TELEMETRY_URL };
    expect(readConfig(both).moveTexts).toBeNull();
    const moving = { SPANDREL_TELEMETRY_MOVE_AFTER_HOURS: '48' };
    expect(readConfig({ ...both, ...moving }).moveTexts).toEqual({ afterMs: 48 * 3_600_000 });
    expect(problemsOf({ SPANDREL_TELEMETRY_URL, ...moving })).toHaveLength(1);
    expect(problemsOf({ SPANDREL_DATABASE_URL: both.SPANDREL_DATABASE_URL, ...moving })).toHaveLength(1);
    expect(problemsOf({ ...both, SPANDREL_TELEMETRY_MOVE_AFTER_HOURS: '1' })).toHaveLength(1);
  });

  it('all problems are reported together, by name and without values', () => {
    const problems = problemsOf({
      SPANDREL_PORT: '99999',
      SPANDREL_SECRET: 'short-secret-value',
      SPANDREL_LOG_LEVEL: 'loud',
      SPANDREL_TLS_CERT: '/cert.pem',
      SPANDREL_BOOTSTRAP_ADMIN_KEY: 'sk-lw-not-a-key',
      SPANDREL_MAX_INFLIGHT: '0',
      SPANDREL_CORS_ORIGINS: 'not an origin',
      SPANDREL_DATABASE_URL: 'mongodb://x',
      SPANDREL_KEY_PREFIX: 'UPPER',
    });
    expect(problems).toHaveLength(9);
    for (const value of ['99999', 'short-secret-value', 'loud', 'sk-lw-not-a-key', 'mongodb://x']) {
      expect(problems.join('\n')).not.toContain(value);
    }
  });

  it.each(['sk-lw-', 'acme-'])(
    'no key that begins with %s is taken for another kind of key, or for an id',
    (prefix) => {
      const apiKey = `${prefix}${'B'.repeat(16)}_${'0'.repeat(42)}1CtB1C`;
      const projectKey = `${prefix}${'A'.repeat(42)}2fwxgK`;
      const mistaken = {
        SPANDREL_BOOTSTRAP_PROJECT_KEY: apiKey,
        SPANDREL_BOOTSTRAP_ADMIN_KEY: projectKey,
        SPANDREL_BOOTSTRAP_ORGANIZATION_ID: projectKey,
        SPANDREL_BOOTSTRAP_PROJECT_ID: projectKey,
      };
      const problems = problemsOf({ SPANDREL_KEY_PREFIX: 'sk-lw-,acme-', ...mistaken });
      expect(problems.map((problem) => problem.split(' ', 1)[0])).toEqual(Object.keys(mistaken));
      expect(problems.join()).not.toMatch(/2fwxgK|1CtB1C/);
    },
  );

  it.each(['0', '-1', '1.5', 'many', '1e3'])('a limit of "%s" is refused', (value) => {
    expect(problemsOf({ SPANDREL_MAX_BODY_BYTES: value })).toHaveLength(1);
  });

  it.each(['\n', '\r\n', ' ', '\t'])('a value may end in %j, as in files of settings', (end) => {
    const values = { SPANDREL_DATABASE_URL: 'sqlite:/a.db', SPANDREL_SECRET: 's'.repeat(32), SPANDREL_HOST: '::1' };
    const padded = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, ` ${value}${end}`]));
    const { databaseUrl, secrets, host } = readConfig({
      ...padded,
      SPANDREL_PORT: `80${end}`,
      SPANDREL_LLM_MODEL: end,
    });
    expect([databaseUrl, secrets?.current, host]).toEqual(Object.values(values));
    expect(readConfig({ SPANDREL_PORT: `80${end}` }).port).toBe(80);
    expect(readConfig({ SPANDREL_LLM_MODEL: end }).llm).toEqual(readConfig({}).llm);
  });

  it('an address of IPv6 to listen on may be in brackets', () => {
    expect(readConfig({ SPANDREL_HOST: '[::1]' }).host).toBe('::1');
  });

  it('proxies are addresses or networks', () => {
    const networks = readConfig({ SPANDREL_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).trustedProxies;
    expect(networks.map(({ prefixBits }) => prefixBits)).toEqual([8, 32, 8]);
    expect(readConfig({}).trustedProxies).toEqual([]);
    for (const text of ['10.0.0.0/33', 'proxy.example', '10.0.0.1:80', '*']) {
      expect(problemsOf({ SPANDREL_TRUSTED_PROXIES: text })).toHaveLength(1);
    }
  });

  it('the audit log is kept for ever, or for a number of days', () => {
    expect([undefined, '0', '1', '3650'].map((days) => readAuditDays(days))).toEqual([null, null, 1, 3650]);
    for (const days of ['-1', '3651', '1.5', 'ever']) {
      expect(problemsOf({ SPANDREL_AUDIT_RETENTION_DAYS: days })).toHaveLength(1);
    }
  });
});

function readAuditDays(days: string | undefined): number | null {
  return readConfig({ SPANDREL_AUDIT_RETENTION_DAYS: days }).auditRetentionDays;
}

describe('a variable that begins like a setting', () => {
  it.each([
    ['SPANDREL_PROT', 'SPANDREL_PROT is not a setting; the nearest is SPANDREL_PORT'],
    ['SPANDREL_DATABASEURL', 'SPANDREL_DATABASEURL is not a setting; the nearest is SPANDREL_DATABASE_URL'],
    ['SPANDREL_LOGLEVEL', 'SPANDREL_LOGLEVEL is not a setting; the nearest is SPANDREL_LOG_LEVEL'],
    ['SPANDREL_WEBHOOKS_ALLOW', 'SPANDREL_WEBHOOKS_ALLOW is not a setting; the nearest is SPANDREL_WEBHOOK_ALLOW'],
    ['SPANDREL_', 'SPANDREL_ is not a setting; spandrel --help lists all'],
    ['SPANDREL_FLAVOUR_OF_ICE', 'SPANDREL_FLAVOUR_OF_ICE is not a setting; spandrel --help lists all'],
  ])('stops the start when there is no setting %s', (name, problem) => {
    expect(problemsOf({ [name]: 'a value' })).toEqual([problem]);
  });

  it('is reported together with all other problems, and also when it is empty', () => {
    expect(problemsOf({ SPANDREL_PROT: '', SPANDREL_MAX_INFLIGHT: '0', SPANDREL_TLS: 'x' })).toHaveLength(3);
  });

  it('may be one that the first start printed, or that the command line reads', () => {
    const exported = ['URL', 'ORGANIZATION_ID', 'TEAM_ID', 'PROJECT_ID', 'ADMIN_USER_ID', 'PROJECT_KEY', 'ADMIN_KEY'];
    expect(problemsOf(Object.fromEntries(exported.map((name) => [`SPANDREL_${name}`, 'any']))).join()).toBe('');
  });

  it('is ignored when Kubernetes set it for a service', () => {
    const injected = {
      SPANDREL_SERVICE_HOST: '10.96.0.7',
      SPANDREL_SERVICE_PORT: '5560',
      SPANDREL_SERVICE_PORT_HTTP: '5560',
      SPANDREL_PORT: 'tcp://10.96.0.7:5560',
      SPANDREL_PORT_5560_TCP: 'tcp://10.96.0.7:5560',
      SPANDREL_PORT_5560_TCP_PROTO: 'tcp',
      SPANDREL_PORT_5560_TCP_PORT: '5560',
      SPANDREL_PORT_5560_TCP_ADDR: '10.96.0.7',
      SPANDREL_DB_SERVICE_HOST: '10.96.0.8',
      SPANDREL_DB_SERVICE_PORT: '5432',
      SPANDREL_DB_PORT: 'tcp://10.96.0.8:5432',
      SPANDREL_DB_PORT_5432_TCP_ADDR: '10.96.0.8',
    };
    expect(readConfig(injected)).toMatchObject({ host: '127.0.0.1', port: 5560 });
  });

  it('is the setting of this server when it holds no such address', () => {
    expect(problemsOf({ SPANDREL_PORT: 'http://10.96.0.7:5560', SPANDREL_DB_PORT: '5432' })).toHaveLength(2);
    expect(readConfig({ SPANDREL_PORT: '5561' })).toMatchObject({ port: 5561 });
  });
});
