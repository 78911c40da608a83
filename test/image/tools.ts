/** Builds and runs images without a registry, with tools of a plain Debian. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const TOOLS = ['buildah', 'podman', 'runc', 'mmdebstrap'];
const PACKAGES = 'libc6,libstdc++6,libgcc-s1,ca-certificates,tzdata,dash,coreutils';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Null when everything is there; else one line for the operator. */
export function describeMissing(): string | null {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0)
    return 'it must run as root: containers of other users need more than a plain Debian has';
  const missing = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length === 0) return null;
  return `it needs ${missing.join(', ')}: apt-get install --no-install-recommends buildah podman runc mmdebstrap uidmap`;
}

export type Containers = ReturnType<typeof createContainers>;

/** Images and containers below one folder. */
export function createContainers(folder: string) {
  const place = ['--storage-driver', 'overlay', '--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = (args: readonly string[]) => run('buildah', [...place, ...args]);
  const podman = (args: readonly string[]) =>
    run('podman', [...place, '--runtime', 'runc', '--cgroup-manager', 'cgroupfs', ...args]);
  return {
    podman,
    /** A base for the server, and one with Node and npm on top. */
    makeBases(): { readonly base: string; readonly buildBase: string } {
      const [base, buildBase] = ['localhost/base', 'localhost/build-base'];
      const root = join(folder, 'rootfs');
      run('mmdebstrap', ['--variant=extract', `--include=${PACKAGES}`, 'bookworm', root]);
      commit(base, 'scratch', (container) => buildah(['add', '--quiet', container, root, '/']));
      commit(buildBase, base, (container) => {
        const tools = join(folder, 'tools');
        mkdirSync(join(tools, 'bin'), { recursive: true });
        cpSync(process.execPath, join(tools, 'bin', 'node'));
        cpSync(npmFolder(), join(tools, 'lib/node_modules/npm'), { recursive: true });
        buildah(['copy', '--quiet', container, tools, '/usr/local']);
        // The certificates of this machine: it may reach the registry through a proxy of its own.
        if (existsSync(CERTIFICATES)) buildah(['copy', '--quiet', container, CERTIFICATES, CERTIFICATES]);
        buildah(['config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container]);
        buildah([
          'run',
          '--isolation',
          'chroot',
          container,
          '--',
          'ln',
          '-s',
          '../lib/node_modules/npm/bin/npm-cli.js',
          '/usr/local/bin/npm',
        ]);
      });
      return { base, buildBase };
    },
    build(context: string, name: string, args: { readonly [name: string]: string }): void {
      const given = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
      const options = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', '--pull-never'];
      buildah(['build', '--quiet', ...options, ...given, '-f', join(context, 'Containerfile'), '-t', name, context]);
    },
    /** Bytes of all files of an image. */
    unpackedBytes(name: string): number {
      const mounted = podman(['image', 'mount', name]);
      try {
        return Number(run('du', ['-sb', mounted]).split('\t')[0]);
      } finally {
        podman(['image', 'unmount', name]);
      }
    },
  };

  function commit(name: string, from: string, fill: (container: string) => void): void {
    const container = buildah(['from', '--pull-never', from]);
    fill(container);
    buildah(['commit', '--quiet', '--rm', container, name]);
  }
}

function npmFolder(): string {
  const cli = process.env.npm_execpath ?? '';
  if (!cli.endsWith('npm-cli.js')) throw new Error('run it as npm run test:image');
  return join(cli, '../..');
}

/** Returns what it printed. Throws when it fails, with what it said. */
function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status === 0) return stdout.trim();
  throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `${stdout}\n${stderr}`}`);
}
