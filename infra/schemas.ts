/*
 * Entry of `npm run schemas`: writes the messages' JSON Schemas to docs/schemas; with `--check` it only says whether
 * they are what the contract gives, and fails if not.
 */
import { keepGenerated } from './generated.ts';
import { messageSchemas } from './message-schemas.ts';

keepGenerated(messageSchemas(), 'npm run schemas');
