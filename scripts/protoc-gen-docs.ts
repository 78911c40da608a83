/** A buf plugin: generates the REST documents and the TypeScript client module from the contract. */

import { createEcmaScriptPlugin, runNodeJs } from '@bufbuild/protoplugin';
import { writeDocument } from './openapi/document.ts';
import { writeRestPage } from './rest-page.ts';

runNodeJs(
  createEcmaScriptPlugin({
    name: 'protoc-gen-docs',
    version: 'v1',
    generateTs({ files, generateFile }) {
      const spandrelFiles = files.filter(({ proto }) => proto.package === 'spandrel.v1');
      generateFile('gen/openapi.json').print(JSON.stringify(writeDocument(spandrelFiles), null, 1));
      const modules = [...spandrelFiles.map(({ name }) => name), 'google/rpc/error_details'].map(
        (name) => `./${name}_pb.js`,
      );
      for (const file of ['gen/client.js', 'gen/client.d.ts']) {
        generateFile(file).print(writeClient(modules));
      }
      generateFile('docs/rest.md').print(writeRestPage(spandrelFiles));
    },
  }),
);

/** One module with all services and the helpers for timestamps and field masks. */
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
