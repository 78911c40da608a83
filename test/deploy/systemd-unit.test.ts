import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const ROOT = new URL('../..', import.meta.url);
const UNIT = new URL('deploy/systemd/spandrel.service', ROOT).pathname;
/** Of ten, as `systemd-analyze security` counts; at most this is asked for. */
const EXPOSURE_MAX = 3;

/** The values of each directive, in order. */
const directives = new Map<string, string[]>();
for (const [, name = '', value = ''] of readFileSync(UNIT, 'utf8').matchAll(/^([A-Za-z]+)=(.*)$/gm)) {
  directives.set(name, [...(directives.get(name) ?? []), value]);
}
const valuesOf = (name: string) => directives.get(name) ?? [];
const environment = Object.fromEntries(
  valuesOf('Environment').flatMap((line) => line.split(' ').map((each) => each.split(/=(.*)/s).slice(0, 2))),
);

describe('the unit of systemd', () => {
  it('starts the server as npm start does, with settings that exist', () => {
    const { start } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')).scripts;
    const { MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_ } = environment;
    const variables = `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} MALLOC_TRIM_THRESHOLD_=${MALLOC_TRIM_THRESHOLD_}`;
    const command = valuesOf('ExecStart')[0]?.replace('/opt/spandrel/node_modules/.bin/node', 'node');
    expect(`${variables} exec ${command}`).toBe(start);
    const config = readConfig(environment);
    expect(config.databaseUrl).toBe(`sqlite:/var/lib/${valuesOf('StateDirectory')[0]}/spandrel.db`);
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(config.limits.drainMs);
  });

  it('gives the server no rights but those that it uses', () => {
    const switchedOn = [
      ...['NoNewPrivileges', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'PrivateUsers', 'ProtectClock'],
      ...['ProtectHostname', 'ProtectKernelLogs', 'ProtectKernelModules', 'ProtectKernelTunables', 'LockPersonality'],
      ...['ProtectControlGroups', 'RestrictNamespaces', 'RestrictRealtime', 'RestrictSUIDSGID', 'RemoveIPC'],
    ];
    for (const name of switchedOn) expect(valuesOf(name), name).toEqual(['yes']);
    expect(valuesOf('User')).toEqual(['spandrel']);
    expect(valuesOf('UMask')).toEqual(['0077']);
    expect(valuesOf('ProtectSystem')).toEqual(['strict']);
    expect(valuesOf('ProtectProc')).toEqual(['invisible']);
    expect(valuesOf('CapabilityBoundingSet')).toEqual(['']);
    expect(valuesOf('RestrictAddressFamilies')).toEqual(['AF_INET AF_INET6 AF_UNIX AF_NETLINK']);
    expect(valuesOf('SystemCallArchitectures')).toEqual(['native']);
    expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources']);
    // V8 compiles at run time.
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual([]);
    expect(valuesOf('ReadWritePaths')).toEqual([]);
  });

  it('is exposed little, where systemd can tell', () => {
    const limits = ['--offline=true', `--threshold=${EXPOSURE_MAX * 10}`];
    const { error, status, stdout } = spawnSync('systemd-analyze', ['security', ...limits, UNIT], { encoding: 'utf8' });
    // Where the tool is missing, the case before holds the unit.
    if (error === undefined) expect(status, stdout.slice(-200)).toBe(0);
    else expect(error).toMatchObject({ code: 'ENOENT' });
  });
});
