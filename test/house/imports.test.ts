import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCircles, type Import, importsOf, SOURCE, sourceFiles, target } from '../../scripts/house/imports.ts';

/** Who may import whom. A path is a prefix inside src/; "gen" is generated code. */
const ALLOWED: { readonly [room: string]: readonly string[] } = {
  // What it refuses is a fault like any other.
  json: ['json', 'domain/fault.ts', 'domain/message-parts.ts', 'domain/steps.ts', 'domain/text-limits.ts'],
  domain: ['domain', 'json', 'scheduling/keyed-mutex.ts', 'scheduling/semaphore.ts', 'scheduling/tenant-semaphore.ts'],
  auth: ['auth', 'domain', 'gen'],
  rpc: ['rpc', 'domain', 'json', 'auth', 'gen'],
  transport: [
    'transport',
    'rpc/invoke.ts',
    'rpc/method.ts',
    'rpc/streams/invoke-stream.ts',
    'rpc/quotas.ts',
    'rpc/rest-shape.ts',
    'rpc/unknown-members.ts',
    'rpc/validate.ts',
    'rpc/field-rules.ts',
    'rpc/field-values.ts',
    'rpc/epoch-ms.ts',
    'domain/fault.ts',
    'domain/gateway/gateway-fault.ts',
    'json/free-json-steps.ts',
    'json/json-text.ts',
    'json/whole-number.ts',
    'domain/clock.ts',
    'domain/ids.ts',
    'domain/public-address.ts',
    'domain/message-parts.ts',
    'json/raw-json.ts',
    'scheduling/semaphore.ts',
    'domain/steps.ts',
    'domain/store.ts',
    'domain/token-mask.ts',
    'gen',
  ],
  metrics: ['metrics', 'domain', 'delivery/meter.ts', 'transport/shared-read.ts'],
  delivery: ['delivery', 'scheduling', 'domain'],
  'sign-in': ['sign-in', 'auth/session-cookie.ts', 'domain', 'scheduling/semaphore.ts'],
  gateway: ['gateway', 'domain', 'json', 'scheduling'],
  // What its spans are made of.
  otel: [
    'otel',
    'config/otel.ts',
    'delivery/meter.ts',
    'domain/traces/otlp/span.ts',
    'gateway/upstream.ts',
    'rpc/method.ts',
    'transport/call-ids.ts',
    'transport/call-log.ts',
  ],
  scheduling: ['scheduling', 'domain/caller.ts', 'domain/clock.ts'],
  evaluation: ['evaluation', 'scheduling', 'domain', 'json'],
  background: ['background', 'app/deps.ts', 'delivery', 'evaluation', 'metrics', 'scheduling', 'domain'],
  // Storage is opened by who starts it.
  app: [
    'app',
    'auth',
    'background',
    'cli/open-files.ts',
    'cli/version.ts',
    'config/config.ts',
    'delivery',
    'domain',
    'evaluation',
    'gateway',
    'metrics',
    'otel',
    'rpc',
    'scheduling',
    'sign-in',
    'transport',
    'gen',
  ],
  storage: ['storage', 'domain', 'json', 'scheduling', 'gen'],
  // What the texts of prompts name is found in one way.
  console: ['console', 'gen', 'domain/prompts/template-variables.ts'],
  config: ['config', 'domain', 'transport/rest/cors.ts'],
  cli: [
    'cli',
    'app/app.ts',
    'config/config.ts',
    'config/secret-file.ts',
    'domain',
    'sign-in/issuer.ts',
    'storage/open.ts',
    'storage/copy/copy.ts',
  ],
};

/** Packages a room may use; domain and auth have none but Node's own. */
const PACKAGES: { readonly [room: string]: RegExp } = {
  json: /^node:buffer$/,
  // The price list is a generated file: nothing else of domain reads one.
  'domain/pricing/price-list.ts': /^node:fs$/,
  domain: /^(node:(crypto|zlib|buffer)|@pydantic\/genai-prices|re2js|csv-parse|liquidjs)$/,
  auth: /^$/,
  rpc: /^@bufbuild\/protobuf(\/|$)/,
  transport: /^(node:|@bufbuild\/protobuf(\/|$)|@connectrpc\/|@modelcontextprotocol\/sdk\/)/,
  // Open files are counted in /proc.
  metrics: /^node:fs$/,
  delivery: /^(node:|@aws-sdk\/client-(sqs|sts)$|nodemailer$)/,
  'sign-in': /^openid-client$/,
  gateway: /^(node:(dns|http|http2|https|net|stream)|undici$)/,
  otel: /^(node:(async_hooks|crypto)|@opentelemetry\/|@grpc\/grpc-js$)/,
  scheduling: /^node:timers\/promises$/,
  background: /^$/,
  app: /^@bufbuild\/protobuf$/,
  evaluation: /^(node:|ajv$|ajv\/dist\/2020|markdown-it$|node-sql-parser\/build\/|re2js$)/,
  storage: /^(node:|@mikro-orm\/|better-sqlite3$|kysely($|\/helpers\/)|pg$|@clickhouse\/client$)/,
  // Bundled: none of them is needed at run time but what the server has anyway.
  console:
    /^(@bufbuild\/protobuf|@connectrpc\/connect(-web|-query)?|react|react-dom|@tanstack\/react-[a-z]+|@base-ui\/react|uplot|markdown-it|sugar-high)(\/|$)/,
  config: /^node:(fs|crypto|path|os)$/,
  cli: /^(node:|pino$)/,
};

describe('the house', () => {
  const rooms = Object.keys(ALLOWED);
  const imports = sourceFiles().flatMap(importsOf);

  it.each(rooms)('%s imports only the rooms below it', (room) => {
    const inside = imports.filter(({ file }) => file.startsWith(`${room}/`));
    expect(inside.length).toBeGreaterThan(0);
    const foreign = inside
      .filter(({ from }) => from.startsWith('.'))
      .filter(
        (each) => !ALLOWED[room]?.some((allowed) => target(each) === allowed || target(each).startsWith(`${allowed}/`)),
      );
    expect(foreign).toEqual([]);
  });

  it.each(rooms)('%s uses only its packages', (room) => {
    const inside = imports.filter(({ file, from }) => file.startsWith(`${room}/`) && !from.startsWith('.'));
    expect(inside.filter(({ file, from }) => !(PACKAGES[file] ?? PACKAGES[room])?.test(from))).toEqual([]);
  });

  it('every folder of src is a room with rules', () => {
    const folders = readdirSync(SOURCE, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map((entry) => entry.name).sort()).toEqual([...rooms].sort());
  });

  it('what queries are written in is loaded by what compiles them, and entities by what knows the object mapper', () => {
    const loaded = imports.filter((each) => !each.isType && each.from.startsWith('.'));
    const written = (path: string) => /^storage\/[a-z]+\/queries[a-z-]*\.ts$/.test(path);
    const compiles = /^storage\/(statements\/sources|engine\/[a-z]+\/statements)\.ts$/;
    const others = loaded.filter((each) => !written(each.file) && !compiles.test(each.file));
    expect(others.filter((each) => written(target(each)))).toEqual([]);
    const readers = loaded.filter((each) => target(each).startsWith('storage/entities/')).map(({ file }) => file);
    expect(
      readers.filter(
        (file) =>
          !/^storage\/((entities|copy|management|delivery)\/|mapper\.ts$|engine\/[a-z]+\/statements\.ts$)/.test(file),
      ),
    ).toEqual([]);
    expect(readers.length).toBeGreaterThan(0);
  });

  it('on SQLite only the writer thread loads the object mapper', () => {
    const loaded = new Set<string>();
    const visit = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const each of imports) {
        if (each.file !== file || each.isType || each.isDynamic) continue;
        if (each.from.startsWith('.')) visit(target(each));
      }
    };
    for (const file of ['storage/engine/sqlite/store.ts', 'storage/engine/sqlite/readers.ts']) visit(file);
    const mappers = imports.filter(
      ({ file, from, isType }) => loaded.has(file) && !isType && /^(@mikro-orm\/|kysely)/.test(from),
    );
    expect(loaded.size).toBeGreaterThan(30);
    expect(mappers).toEqual([]);
  });

  // What has no stem of its own: what all changes have in common, and the deliveries of endpoints.
  const RULES_BESIDE = ['delivery', 'management'];

  it('the rules have the rooms of the contract, and few files beside them', () => {
    const entries = readdirSync(join(SOURCE, 'domain'), { withFileTypes: true });
    const rooms = entries.filter((each) => each.isDirectory()).map(({ name }) => name);
    const files = readdirSync(join(SOURCE, '../proto/spandrel/v1'));
    // Protobuf spells names of files with underscores, and this house with hyphens.
    const stems = files.map((name) => name.replace(/\.proto$/, '').replaceAll('_', '-'));
    expect(rooms.filter((room) => !stems.includes(room)).sort()).toEqual(RULES_BESIDE);
    expect(entries.length - rooms.length).toBeLessThan(25);
  });

  it('OpenTelemetry is loaded only where it is switched on', () => {
    const loaded = imports.filter(({ isType }) => !isType);
    const users = loaded.filter(({ from }) => from.startsWith('@opentelemetry/')).map(({ file }) => file);
    expect([...new Set(users)].sort()).toEqual(['otel/exporting.ts', 'otel/spans.ts']);
    const outside = loaded.filter((each) => each.from.startsWith('.') && target(each).startsWith('otel/'));
    expect(outside.filter(({ file, isDynamic }) => !file.startsWith('otel/') && !isDynamic)).toEqual([]);
  });

  const ENGINES = ['sqlite', 'postgres'];
  const STORAGE_ROOMS = [
    // Those of the contract.
    ...['traces', 'analytics', 'events', 'keys', 'endpoints', 'evaluations', 'monitors'],
    ...['budgets', 'datasets', 'experiments', 'organization', 'pricing', 'spend', 'threads', 'feedback', 'annotations'],
    ...[
      'answers',
      'append',
      'clickhouse',
      'copy',
      'delivery',
      'engine',
      'entities',
      'management',
      'migrations',
      'retention',
      'rows',
      'search',
      'statements',
    ],
  ];

  it('storage has the rooms of the contract, and few beside them', () => {
    const folders = readdirSync(join(SOURCE, 'storage'), { withFileTypes: true }).filter((each) => each.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(STORAGE_ROOMS.toSorted());
    expect(readdirSync(join(SOURCE, 'storage/engine')).sort()).toEqual(ENGINES.toSorted());
  });

  it.each(ENGINES)('what runs on %s knows no other engine', (engine) => {
    const inside = imports.filter(({ file }) => file.startsWith(`storage/engine/${engine}/`));
    expect(inside.length).toBeGreaterThan(0);
    const other = ENGINES.filter((each) => each !== engine).join('|');
    const foreign = new RegExp(`^storage/engine/(${other})/`);
    expect(inside.filter((each) => foreign.test(target(each)))).toEqual([]);
  });

  it('no room of storage knows an engine, but for what opens, migrates and copies', () => {
    const outside = imports.filter(({ file }) => /^storage\/(?!engine\/|copy\/|open\.ts|migrate\.ts)/.test(file));
    expect(outside.length).toBeGreaterThan(0);
    expect(outside.filter((each) => target(each).startsWith('storage/engine/'))).toEqual([]);
  });

  it('a circle through generated code is seen, also where only declarations close it', () => {
    const importOf = (file: string, from: string): Import => ({ file, from, isType: false, isDynamic: false });
    const made = [
      importOf('rpc/keys.ts', '../../gen/spandrel/v1/keys_pb.js'),
      importOf('../gen/spandrel/v1/keys_pb.js', './options_pb.js'),
      importOf('../gen/spandrel/v1/options_pb.d.ts', './keys_pb.js'),
    ];
    expect(findCircles(made)).toEqual([
      '../gen/spandrel/v1/keys_pb.js -> ../gen/spandrel/v1/options_pb.js -> ../gen/spandrel/v1/keys_pb.js',
    ]);
    expect(findCircles(made.slice(0, 2))).toEqual([]);
  });

  it('only main reads the environment', () => {
    const readers = sourceFiles().filter((file) =>
      /process\.env/.test(readFileSync(join(SOURCE, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')),
    );
    expect(readers).toEqual(['main.ts']);
  });

  it('time and chance reach the rules only from outside', () => {
    const pure = sourceFiles().filter((file) => /^(domain|auth|rpc)\//.test(file));
    const impure = pure.filter((file) =>
      /Date\.now\(|Math\.random\(|setTimeout\(|setInterval\(|randomBytes\(|performance\.now\(/.test(
        readFileSync(join(SOURCE, file), 'utf8'),
      ),
    );
    expect(impure).toEqual([]);
  });

  it('every file has one subject, in at most 300 lines', () => {
    const long = sourceFiles().filter((file) => readFileSync(join(SOURCE, file), 'utf8').split('\n').length > 300);
    expect(long).toEqual([]);
  });

  it('files are named for a subject', () => {
    const vague = sourceFiles().filter((file) => /(^|\/)(utils?|helpers?|common|types?)\.tsx?$/.test(file));
    expect(vague).toEqual([]);
    expect(
      sourceFiles().filter(
        (file) => !/^([a-z0-9-]+\/)*[a-z0-9-]+(\.module\.css|\.d\.ts|\.tsx?|\.js|\.css)$/.test(file),
      ),
    ).toEqual([]);
  });
});
