/**
 * Removes options from the descriptors of the console's bundle. They are half of a contract's bytes and configure
 * routing, access and validation on the server; a browser never reads them.
 */

import { clearField, fromBinary, toBinary } from '@bufbuild/protobuf';
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { Plugin } from 'vite';

/** Files that define only options: no file without options needs them. */
const OPTION_FILES =
  /,? ?file_(?:buf_validate_validate|google_api_annotations|google_api_field_behavior|spandrel_v1_options)\b/g;

export function leaveOutOptions(): Plugin {
  return {
    name: 'leave-out-options',
    transform(code, id) {
      if (!/\/gen\/spandrel\/v1\/\w+_pb\.js$/.test(id)) return null;
      return code.replace(/fileDesc\("([^"]+)", \[([^\]]*)\]\)/, (_, descriptor: string, imports: string) => {
        const left = imports.replace(OPTION_FILES, '').replace(/^, /, '');
        return `fileDesc("${strip(descriptor)}", [${left}])`;
      });
    },
  };
}

function strip(descriptor: string): string {
  const file = fromBinary(FileDescriptorProtoSchema, base64Decode(descriptor));
  clearField(file, FileDescriptorProtoSchema.field.options);
  for (const message of file.messageType) stripMessage(message);
  for (const each of file.enumType) stripEnum(each);
  for (const service of file.service) {
    clearField(service, ServiceDescriptorProtoSchema.field.options);
    for (const method of service.method) clearField(method, MethodDescriptorProtoSchema.field.options);
  }
  return base64Encode(toBinary(FileDescriptorProtoSchema, file), 'std_raw');
}

function stripMessage(message: DescriptorProto): void {
  // An option marks map entries.
  if (message.options?.mapEntry !== true) clearField(message, DescriptorProtoSchema.field.options);
  for (const field of message.field) clearField(field, FieldDescriptorProtoSchema.field.options);
  for (const oneof of message.oneofDecl) clearField(oneof, OneofDescriptorProtoSchema.field.options);
  for (const nested of message.nestedType) stripMessage(nested);
  for (const each of message.enumType) stripEnum(each);
}

function stripEnum(each: EnumDescriptorProto): void {
  clearField(each, EnumDescriptorProtoSchema.field.options);
  for (const value of each.value) clearField(value, EnumValueDescriptorProtoSchema.field.options);
}
