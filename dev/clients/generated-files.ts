import { operations } from '../../api/operations.ts';
import { documentation } from '../../web/docs/documentation.ts';
import { exampleBaseUrl } from '../../web/docs/example-base-url.ts';
import { pythonTypes } from './python-types.ts';
import { typescriptTypes } from './typescript-types.ts';

/** The generated files of the clients: their paths from the project's folder, with their texts. */
export function generatedFiles(): Record<string, string> {
  const { openApi } = documentation(operations, { publicBaseUrl: exampleBaseUrl });
  return {
    'clients/typescript/src/generated.ts': typescriptTypes(openApi.partner),
    'clients/python/src/ride_partner/generated.py': pythonTypes(openApi.partner),
  };
}
