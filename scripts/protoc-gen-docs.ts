/** A plugin of buf: writes what people and programs read about REST, and what TypeScript users import, from the contract. */

import { createEcmaScriptPlugin, runNodeJs } from '@bufbuild/protoplugin';
import { writeDocument } from './openapi/document.ts';
import { writeRestPage } from './rest-page.ts';

runNodeJs(
  createEcmaScriptPlugin({
    name: 'protoc-gen-docs',
    version: 'v1',
    generateTs({ files, generateFile }) {
      const ours = files.filter(({ proto }) => proto.package === 'spandrel.v1');
      generateFile('gen/openapi.json').print(JSON.stringify(writeDocument(ours), null, 1));
      const modules = [...ours.map(({ name }) => name), 'google/rpc/error_details'].map((name) => `./${name}_pb.js`);
      for (const file of ['gen/client.js', 'gen/client.d.ts']) {
        generateFile(file).print(writeClient(modules));
      }
      generateFile('docs/rest.md').print(writeRestPage(ours));
    },
  }),
);

/** Everything of the services in one module, with what is needed to write instants and masks. */
function writeClient(modules: readonly string[]): string {
  const all = modules.map((module) => `export * from '${module}';`);
  const known = [
    'FieldMaskSchema',
    'timestampDate',
    'timestampFromDate',
    'timestampFromMs',
    'timestampMs',
    'timestampNow',
  ];
  return [...all, `export { ${known.join(', ')} } from '@bufbuild/protobuf/wkt';`].join('\n');
}
