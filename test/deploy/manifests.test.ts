import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { temporaryFolder } from '../support/temp.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const CONTAINERFILE = read('Containerfile');
const PORT = 5560;

const folder = temporaryFolder();
afterAll(() => folder.remove());

// biome-ignore lint/suspicious/noExplicitAny: what the manifests hold is what is tested.
type Yaml = any;

/** The settings of a container, with every file of a secret replaced by one that is here. */
function readSettings(environment: { readonly [name: string]: string }) {
  const secrets: { readonly [file: string]: string } = {
    secret: 's'.repeat(32),
    'database-url': 'postgres://spandrel:password@db.example.com/spandrel',
    'telemetry-url': 'clickhouse://spandrel:password@clickhouse:8123/spandrel',
  };
  for (const [name, text] of Object.entries(secrets)) writeFileSync(join(folder.path, name), text);
  const here = ([name, value]: [string, string]) => [
    name,
    value.replace(/^\/run\/secrets\/(spandrel\/)?/, `${folder.path}/`),
  ];
  return readConfig(Object.fromEntries(Object.entries({ ...imageEnvironment(), ...environment }).map(here)));
}

function imageEnvironment(): { readonly [name: string]: string } {
  const [, text = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(CONTAINERFILE) ?? [];
  return Object.fromEntries(text.split(/\s+\\?\s*/).map((each) => each.split(/=(.*)/s).slice(0, 2)));
}

describe('the image', () => {
  it('starts the server as npm start does, but for the growth of the heap, which goes by the limit of the container', () => {
    const { start } = JSON.parse(read('package.json')).scripts;
    const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(CONTAINERFILE) ?? [];
    const { MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_ } = imageEnvironment();
    const variables = `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} MALLOC_TRIM_THRESHOLD_=${MALLOC_TRIM_THRESHOLD_}`;
    expect(`${variables} exec ${JSON.parse(entry).join(' ').replace('/app/', '')}`).toBe(
      start.replace(' --heap-growing-percent=100', ''),
    );
  });

  it('keeps all data in its volume, listens on its port, and runs as a user without rights', () => {
    expect(readSettings({})).toMatchObject({ host: '0.0.0.0', port: PORT, databaseUrl: 'sqlite:./data/spandrel.db' });
    for (const line of ['WORKDIR /', 'VOLUME /data', `EXPOSE ${PORT}`, 'USER 12345:12345', 'STOPSIGNAL SIGTERM']) {
      expect(CONTAINERFILE.split('\n')).toContain(line);
    }
    expect(CONTAINERFILE).toMatch(/^HEALTHCHECK .* CMD \["node", "\/app\/src\/launch.js", "healthcheck"\]$/m);
  });

  it('is built from nothing but what it needs, with every builder', () => {
    expect(read('.dockerignore')).toBe(read('.containerignore'));
    const copied = [...CONTAINERFILE.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
    const allowed = read('.containerignore').trim().split('\n').slice(1);
    expect(allowed.map((line) => line.slice(1)).sort()).toEqual(copied.sort());
    for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });
});

describe('compose.yaml', () => {
  const compose: Yaml = parse(read('compose.yaml'), { merge: true });
  const own = Object.entries<Yaml>(compose.services).filter(([name]) => name.startsWith('spandrel'));

  it.each(own)('%s has settings that exist, and writes only its volume', (_, service) => {
    const config = readSettings(service.environment);
    expect(config.publicUrl).toBe(`http://127.0.0.1:${PORT}`);
    expect(service.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], build: { dockerfile: 'Containerfile' } });
    expect(Number.parseInt(service.stop_grace_period, 10) * 1000).toBeGreaterThan(config.limits.drainMs);
  });

  it('names only volumes, secrets and services that it declares', () => {
    for (const service of Object.values<Yaml>(compose.services)) {
      for (const mount of service.volumes ?? []) expect(Object.keys(compose.volumes)).toContain(mount.split(':')[0]);
      for (const secret of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
      for (const other of service.depends_on ?? []) expect(Object.keys(compose.services)).toContain(other);
      const files = Object.entries<string>(service.environment).filter(([name]) => name.endsWith('_FILE'));
      for (const [, path] of files) expect(service.secrets).toContain(path.replace('/run/secrets/', ''));
    }
    for (const { file } of Object.values<Yaml>(compose.secrets)) expect(file).toMatch(/^deploy\/secrets\//);
    expect(read('deploy/.gitignore')).toContain('secrets/');
  });
});

describe('the manifests for Kubernetes', () => {
  const FOLDER = join(ROOT, 'deploy/kubernetes');
  const files = globSync('*/*.yaml', { cwd: FOLDER });
  const manifests = files.map((file) => {
    const document = parseDocument(readFileSync(join(FOLDER, file), 'utf8'), { strict: true, uniqueKeys: true });
    expect(document.errors).toEqual([]);
    return { file, manifest: document.toJS() as Yaml };
  });
  const ofKind = (kind: string) => manifests.filter(({ manifest }) => manifest.kind === kind);
  const workloads = ['StatefulSet', 'Deployment']
    .flatMap(ofKind)
    .map(({ file, manifest }) => [file, manifest] as const);

  it('are each listed once by the kustomization of their folder', () => {
    const lists = manifests.filter(({ file }) => file.endsWith('kustomization.yaml'));
    expect(lists).toHaveLength(readdirSync(FOLDER).length);
    for (const { file, manifest } of lists) {
      const others = readdirSync(dirname(join(FOLDER, file))).filter((name) => name !== 'kustomization.yaml');
      const listed: readonly string[] = manifest.resources;
      expect(listed.filter((name) => name.endsWith('.yaml')).toSorted()).toEqual(others.toSorted());
      for (const name of listed) expect(existsSync(join(dirname(join(FOLDER, file)), name)), name).toBe(true);
    }
  });

  it('have what a company asks for', () => {
    const kinds = manifests.map(({ manifest }) => manifest.kind);
    const wanted = ['StatefulSet', 'Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor'];
    expect(wanted.filter((kind) => !kinds.includes(kind))).toEqual([]);
    expect(workloads).toHaveLength(3);
  });

  it.each(workloads)('%s has settings and secrets that exist', (_, { spec }) => {
    const [container] = spec.template.spec.containers;
    const environment = Object.fromEntries(container.env.map((each: Yaml) => [each.name, each.value]));
    const config = readSettings(environment);
    expect(config.secrets?.current).toHaveLength(32);
    const drainSeconds = config.limits.drainMs / 1000 + container.lifecycle.preStop.sleep.seconds;
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds);
    const mounted = container.volumeMounts.map(({ name }: Yaml) => name).sort();
    const volumes = [
      ...spec.template.spec.volumes,
      ...(spec.volumeClaimTemplates ?? []).map((each: Yaml) => each.metadata),
    ];
    expect(volumes.map(({ name }) => name).sort()).toEqual(mounted);
    for (const [name, value] of Object.entries(environment)) {
      if (name.endsWith('_FILE')) expect(value).toMatch(/^\/run\/secrets\/spandrel\/[a-z-]+$/);
    }
  });

  it.each(workloads)('%s runs without rights, and is asked as its pages are called', (_, { spec }) => {
    const { securityContext, containers, enableServiceLinks } = spec.template.spec;
    const [container] = containers;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 12_345, fsGroup: 12_345 });
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }]);
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual(
      ['/readyz', '/readyz', '/healthz'].map((path) => ({ path, port: 'http' })),
    );
    expect(enableServiceLinks).toBe(false);
  });

  it('stores: a file has one process, a database several, and gateways of their own', () => {
    const found = workloads.map(([file, { kind, spec }]) => ({ file, kind, isOne: spec.replicas === 1 }));
    expect(found.toSorted((one, other) => (one.file < other.file ? -1 : 1))).toEqual([
      { file: 'gateway/deployment.yaml', kind: 'Deployment', isOne: false },
      { file: 'postgres/deployment.yaml', kind: 'Deployment', isOne: false },
      { file: 'sqlite/stateful-set.yaml', kind: 'StatefulSet', isOne: true },
    ]);
    for (const [file, { kind, spec }] of workloads) {
      const { env } = spec.template.spec.containers[0];
      const value = (name: string) => env.find((each: Yaml) => each.name === name)?.value;
      expect(value('SPANDREL_DATABASE_URL_FILE') !== undefined, file).toBe(kind === 'Deployment');
      expect(value('SPANDREL_ROLE'), file).toBe(file.startsWith('gateway/') ? 'gateway' : undefined);
    }
  });

  const labelOf = (name: string) => ({ 'app.kubernetes.io/name': name });
  const TIERS = ['spandrel', 'spandrel-gateway'];

  it.each(TIERS)('select the pods of %s by the label that these have', (tier) => {
    const label = labelOf(tier);
    const named = ({ manifest }: { manifest: Yaml }) => manifest.metadata?.name.replace('-database', '') === tier;
    const own = manifests.filter(({ file }) => !file.startsWith('monitoring/')).filter(named);
    const ofTier = (kind: string) =>
      own.filter(({ manifest }) => manifest.kind === kind).map(({ manifest }) => manifest);
    const running = [...ofTier('StatefulSet'), ...ofTier('Deployment')];
    expect(running.length).toBeGreaterThan(0);
    for (const { spec } of running) {
      expect([spec.selector.matchLabels, spec.template.metadata.labels]).toEqual([label, label]);
      const { topologySpreadConstraints = [] } = spec.template.spec;
      for (const each of topologySpreadConstraints) expect(each.labelSelector.matchLabels).toEqual(label);
    }
    const [service] = ofTier('Service');
    expect(service.spec.selector).toEqual(label);
    expect(service.metadata.labels).toEqual(label);
    expect(service.spec.ports[0]).toMatchObject({ name: 'http', port: PORT, targetPort: 'http' });
    expect(ofTier('NetworkPolicy').length).toBeGreaterThan(0);
    for (const { spec } of ofTier('NetworkPolicy')) expect(spec.podSelector.matchLabels).toEqual(label);
    expect(ofTier('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels)).toEqual([label]);
  });

  it('scrape the services of both tiers', () => {
    const [monitor] = ofKind('ServiceMonitor');
    const [selects] = monitor?.manifest.spec.selector.matchExpressions ?? [];
    expect(selects).toEqual({ key: 'app.kubernetes.io/name', operator: 'In', values: TIERS });
    expect(monitor?.manifest.spec.endpoints[0]).toMatchObject({ port: 'http', path: '/metrics' });
  });

  it('let gateways reach the database and public providers, and nothing private', () => {
    const [policy] = manifests.filter(({ file }) => file === 'gateway/network-policy.yaml');
    const ports = policy?.manifest.spec.egress.map((each: Yaml) => each.ports.map(({ port }: Yaml) => port));
    expect(ports).toEqual([[53, 53], [443, 8443], [5432]]);
    const [, providers] = policy?.manifest.spec.egress ?? [];
    expect(providers.to[0].ipBlock.except).toContain('169.254.0.0/16');
  });
});
