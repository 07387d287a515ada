/*
 * Entry of `npm run schemas`: writes the messages' JSON Schemas to docs/schemas and the facts of the handlers to
 * docs/handlers.md; with `--check` it only says whether they are what the sources give, and fails if not.
 */
import { keepGenerated } from './generated.ts';
import { handlersPage } from './handlers-page.ts';
import { messageSchemas } from './message-schemas.ts';

await keepGenerated([...messageSchemas(), handlersPage()], 'npm run schemas');
