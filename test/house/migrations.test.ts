import { describe, expect, it } from 'vitest';
import { hashOf } from '../../src/storage/migrations/migration.ts';
import { POSTGRES_SCHEMAS } from '../../src/storage/migrations/postgres.ts';
import { SQLITE_SCHEMAS } from '../../src/storage/migrations/sqlite.ts';

/**
 * The SHA-256 of every migration that is on main. Databases out there have run it as it is: to change something, add a
 * migration and its line here. Never change a line.
 */
const FROZEN = {
  'sqlite-0001-initial': 'f2771a3924f192afffe4f2b3cf06b3bcc9c728e7bf49f987a100383d94230a6a',
  'sqlite-0002-schema-versions': 'e42c4fe4ad9916c308e5979fe204721cfcd89a693c0f639f188ec747e94241a6',
  'sqlite-0003-span-nanoseconds': '14110f1be4629388fc29ec0b88ea466b525ed3d7b37e331b4bb0cc30d2d05145',
  'sqlite-0004-shares': '5837020b6941e85f9fdf021b25f246e850762b28f158885a0221bb5dda4158d2',
  'sqlite-0005-share-backfill': '29475ec8fd231881782d65a616c5eab7b39bd021590453ae3e5c5eaab72f978e',
  'sqlite-0006-trace-texts': 'adf504fb2952226125401b56294b505375716de5fcf54eee10993b67f928da6d',
  'sqlite-0007-judge-spending': '4c99bef21a7e0e04a60ac6250f50ae79cc81ea407c85202a25d39eb68f41c7df',
  'sqlite-0008-clock': '3f64ad775148750ee7f73aea87cb5b703ea40318b70c34c6218882967639a0a3',
  'sqlite-0009-narrow-indexes': '063a853d2ae827bbf9cb786d6b9ec6c0756b10f4ffe98a30394e5146ae2c1612',
  'sqlite-0010-anchor': '47c8cbab197bef35f04989b5e6ed6c2402e4d45b435a27e3352bd0ac758ade69',
  'sqlite-0011-large-texts': '899eef9c0006bd840899c5c77d505f97e34fd9d266cd87a23271b8cac311621e',
  'sqlite-0012-span-texts': 'f58bb80ae965440a3e9e06d504b0bb818b85d4c1a7011c20bcfdbe411bb33766',
  'sqlite-0013-search-index': 'ad7218d1793d8c7f9286c361858fb9233abed509068c69a6533567e1c46e1a9c',
  'sqlite-0014-log-records': '20d9e7b9f18a8765057dcb0d12c60e89331f1d841ee2091ab3499ed1316da5e1',
  'sqlite-0015-virtual-keys': 'c3b0e352a17ced472cc2f095b4915ab9492376a6e76b7c1b45dc2e4c38fe5d3e',
  'sqlite-0016-budgets': '9a811e85c9b6f290b6b7fdd4b11b3659b354c0f5b5401eb60545765a6e6173cd',
  'sqlite-0017-gateway-leases': '127f87097e763b4c2c405bf9d3a3109463019e419f68fb1a65818ee7beea0021',
  'sqlite-0018-cached-answers': 'fca3307720139cc1ab50b36dd9cea40c67972ae917d91d87f6b49f63fdc272a7',
  'sqlite-0019-sessions': 'c0ed68f3e7b7b7a2eeca1dbc009b3dd4b1e5a2fdf8558f6737e0c8990ffb8de2',
  'sqlite-0020-identities': '72a1e92b88a447adb78e09a9091510772533681263c1b2725121c8660e43238c',
  'sqlite-0021-trace-deletions': '1e5d390b087686d57e6360a2eca60d68c81e99abaf837c78f814216e51d29738',
  'sqlite-0022-trace-shares': 'd7bb789dd8dc7274b41baeb386a1b3f145f57d99669dce02fb8e33df721b3deb',
  'sqlite-0023-secret-rotation': '49ae3c4f49c0f45628cc654ca8ad1e7875a4f99e74a2225f3157c8f7444580f8',
  'sqlite-0024-saved-views': '0532f2adfb6b94842bb67cebec0e1346168b274664ac4ef4d09addee301c2e48',
  'sqlite-0025-dashboards': '62a69a491ad54658d2cba7be3471eac649eb420d27c116a07c35b640ad285933',
  'sqlite-0026-feedback': 'c228689afb80cad471b0011b3c394f26b357687e2ba5eb1a92427ef0f43d27f4',
  'sqlite-0027-annotations': '343f16f8a377b607ac5ba65d83f89fb64a4e737e5a01b4947ecaee405f737267',
  'sqlite-0028-prompts': '09d1b60b441090a17b0a6e0cf10bc19a96834bbc4e032ecd8f3f7cf6c92adaab',
  'sqlite-0029-triggers': '8e6ab645ffbf708b3f3839d347a5da99466628621f09d30b3c5fdc75bb0fc3b4',
  'sqlite-0030-prompt-links': '063a853d2ae827bbf9cb786d6b9ec6c0756b10f4ffe98a30394e5146ae2c1612',
  'sqlite-0031-late-feedback': '4d8d5e5d73d6727fe5f0994da9872371648151fd0c2e49f89c9d866000390353',
  'sqlite-0032-duration-counts': '7718aa5745c37a6f84b4d03b467d830e32b9bc15a35fc8eedf24e46f82370985',
  'sqlite-0033-search-state': '063a853d2ae827bbf9cb786d6b9ec6c0756b10f4ffe98a30394e5146ae2c1612',
  'sqlite-0034-model-durations': '063a853d2ae827bbf9cb786d6b9ec6c0756b10f4ffe98a30394e5146ae2c1612',
  'sqlite-0035-moved-texts': '063a853d2ae827bbf9cb786d6b9ec6c0756b10f4ffe98a30394e5146ae2c1612',
  'postgres-0001-initial': 'b0b0309e3af155d1d23dffa646479d93ea4a979e26606f42a8df71baf44bee33',
  'postgres-0002-schema-versions': '935bc15b33bc2dc277f6e952a67f77b4b8e1d17d4da4bfb0e7334a863e5935b3',
  'postgres-0003-span-nanoseconds': '068afa8a72b78e7765f4197dd641816e742df85289b7529c3fb6082f24887c19',
  'postgres-0004-shares': '54057b472bab56d8c3f9e38ca6db2dc0c80ccce413069eeaebe36fca36e7ca01',
  'postgres-0005-share-backfill': '29475ec8fd231881782d65a616c5eab7b39bd021590453ae3e5c5eaab72f978e',
  'postgres-0006-trace-texts': 'e5b0c24176903e93d1ef827877113ae9c7853ccea7dcf9a611c0a647d8c1b2e2',
  'postgres-0007-judge-spending': '6e5f8981d4a7f074fb23e85f91245713ee7429c03205135fbf612fd254ca684a',
  'postgres-0008-clock': '3f64ad775148750ee7f73aea87cb5b703ea40318b70c34c6218882967639a0a3',
  'postgres-0009-narrow-indexes': '91221006b129f480013091f2532cb842d237061b0442553941ec775242a7be72',
  'postgres-0010-anchor': '5b27d1afae33b514577d1c274d1bf0dcb744c1d750611c6ad0bbb805d3162299',
  'postgres-0011-large-texts': '14f51db558c58c4e73e17bb530cb59996f3c8cb90fcb2f6b7f3d68b48e545b29',
  'postgres-0012-span-texts': 'f58bb80ae965440a3e9e06d504b0bb818b85d4c1a7011c20bcfdbe411bb33766',
  'postgres-0013-search-index': '6c6ac08b579a2380d622475b6830c14a50f239464474d6de1b45d0d140cc1777',
  'postgres-0014-log-records': 'ff110c5b4d943a37ad6c8671c5d5d13637aca40f04ad020798a0484f2d29b07e',
  'postgres-0015-virtual-keys': 'dc3ee56763fdaaa9dbf775d1a9935656453bfaf8e0c70ac28a6a50a45be6ed52',
  'postgres-0016-budgets': '864b1a04b96ce784f52124ae2a261de21253dd4eefc29bd9b28b3ac90fb564f7',
  'postgres-0017-gateway-leases': 'e43cda613549dde546422728fa14605750206a5743923a958dda8962ac2267ec',
  'postgres-0018-cached-answers': 'edf9c70f83b20bada553ad00c552edbaf6c9d606a033298bdb490ee093bf41b3',
  'postgres-0019-sessions': '99df9817462fc892b2c07108233c6666cd758866a5818ba0b8131668abee56c4',
  'postgres-0020-identities': '7e6c206921ef4eb9b10ba1d252199c3c20cb673e3bbb8358f91d504feef98459',
  'postgres-0021-trace-deletions': '309ba2dc58a84f5d494aee56208fd1025d6c74513e5dbcd880866e854795d606',
  'postgres-0022-trace-shares': '5f066c217bdc4e41d992738434a8c907050eb492d2f98f99019398eeec98b510',
  'postgres-0023-secret-rotation': '85c804451e53e553a2dbd4b96a59467af8a7844ff32a7efa4c389b010a47752c',
  'postgres-0024-saved-views': '4cfc0e41c02d8dd2841ba526d7a4fe6d775fc074515f88c62af1da08b899bc27',
  'postgres-0025-dashboards': '2067c33ce9e6a6e7e75cbb842bfae3bbf7c83d349f7d711cb0d2c1c1c744b175',
  'postgres-0026-feedback': '4b369398d4e88742415ee6f81351648c9cda710e642ac3b72a2e11b10498a5a3',
  'postgres-0027-annotations': 'c2c9a8381b0c73dd76e5d60780fe0e617c3dd01722602c047ecee8eb707567ad',
  'postgres-0028-prompts': '037b125452bdd5494e2808af55e079bf7f983e723a0fb3f551572afc10db6db7',
  'postgres-0029-triggers': 'dcd75b27f37a0e5088ffd88e070ae9ed747117897a04ea5d33b51249295fbd67',
  'postgres-0030-prompt-links': 'd9cb4aedee85c9c6c291d7eb6e6c6d3b1b819c9ce0bf66b1204b17e766667fe7',
  'postgres-0031-late-feedback': 'de9c3d42765d11cfe620db592634b42b58e8cfc518937791a845ebb52527dd9d',
  'postgres-0032-duration-counts': '460db2c41f7eebad9a0adcb0a51fc18ae1995c4135f53ae81cf98b1478f8371c',
  'postgres-0033-search-state': 'dc53718fed1e15dc242c279ba26467373d25a4664cd1ade5adf4422997314406',
  'postgres-0034-model-durations': 'aa8dac836895cf5864ee1be43f65efd45571177c7187f382add3d62f6f951903',
  'postgres-0035-moved-texts': 'b344d3a8c7d98273438c93e3d8dc7b8f7773a54e054d44b14fec5b6efdef4d0d',
};

const ALL = [...SQLITE_SCHEMAS.migrations, ...POSTGRES_SCHEMAS.migrations];

describe('migrations', () => {
  it('never change once they are on main', () => {
    expect(Object.fromEntries(ALL.map((migration) => [migration.name, hashOf(migration)]))).toEqual(FROZEN);
  });

  it('say which of them older processes do not survive, and which indexes are built afterwards', () => {
    const stopping = ALL.filter(({ olderProcesses }) => olderProcesses === 'must be stopped');
    const ofBoth = ['0001-initial', '0004-shares', '0006-trace-texts', '0012-span-texts', '0013-search-index'];
    expect(stopping.map(({ name }) => name)).toEqual([
      ...[...ofBoth, '0011-large-texts'].sort().map((subject) => `sqlite-${subject}`),
      ...ofBoth.map((subject) => `postgres-${subject}`),
    ]);
    const later = ALL.flatMap(({ laterIndexes }) => Object.keys(laterIndexes));
    expect(later).toEqual(['traces_by_start', 'traces_by_update', 'indexed_traces_without_durations']);
  });

  it('are numbered in their order, alike on both stores', () => {
    for (const [store, { migrations }] of [
      ['sqlite', SQLITE_SCHEMAS],
      ['postgres', POSTGRES_SCHEMAS],
    ] as const) {
      for (const [index, { name }] of migrations.entries()) {
        expect(name).toMatch(new RegExp(`^${store}-${String(index + 1).padStart(4, '0')}-[a-z-]+$`));
      }
    }
    const subjects = (names: readonly { name: string }[]) => names.map(({ name }) => name.replace(/^\w+-/, ''));
    expect(subjects(SQLITE_SCHEMAS.migrations)).toEqual(subjects(POSTGRES_SCHEMAS.migrations));
  });
});
