/*
 * Models of the API server that are wrong in one way each, and the script that has to tell them from a real one. Used by
 * test/e2e/agreement-api.test.ts to show that agreement is more than a word.
 */
import type { ListPage, ObjectPath, PageWanted, PatchOperation, Watched } from '../../../bridge/ports.ts';
import { ApiServer } from '../api-server.ts';
import { counted, lastWordOn } from '../object-rules.ts';
import { storedRefusal } from '../size-limits.ts';
import type { Mistake } from './api-model.ts';
import { rightsMistakes } from './rights-mistakes.ts';

class PassesTests extends ApiServer {
  override patch(
    path: ObjectPath,
    operations: readonly PatchOperation[],
    ...by: Parameters<ApiServer['patch']> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ) {
    return super.patch(
      path,
      operations.filter(({ op }) => op !== 'test'),
      ...by,
    );
  }
}

class ForgetsAnEvent extends ApiServer {
  override since(...from: Parameters<ApiServer['since']>) {
    return super.since(...from)?.slice(1);
  }
}

class GoesAtTheSecond extends ApiServer {
  override delete(path: ObjectPath, by: string): void {
    const isMarked = this.get(path)?.metadata.deletionTimestamp !== undefined;
    super.delete(path, by);
    if (isMarked) this.update(path, by, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
  }
}

class ListsThePresent extends ApiServer {
  override list(watched: Watched, { limit, next }: PageWanted): ListPage {
    const from = Number(next ?? 0);
    const { items, resourceVersion } = super.list(watched, { limit: 1_000 });
    const isLast = from + limit >= items.length;
    return {
      items: items.slice(from, from + limit),
      resourceVersion,
      ...(isLast ? {} : { next: String(from + limit) }),
    };
  }
}

class AsksNobodyAboutNothing extends ApiServer {
  override patch(
    path: ObjectPath,
    operations: readonly PatchOperation[],
    ...by: Parameters<ApiServer['patch']> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ) {
    const isNothing = operations.every(({ op }) => op === 'test');
    return isNothing ? this.get(path) : super.patch(path, operations, ...by);
  }
}

/** What is wrong, how, and the title of the script that notices. */
export interface KnownMistake extends Mistake {
  readonly what: string;
  readonly noticedBy: string;
}

const ASKED =
  'a policy is asked after a test of the patch and what the server never takes, also of what changes nothing';
const EXCESS =
  'a call that is one too many is not done, and told when to come back; watches that are open go on, and others work';

/** All of them. */
export const apiMistakes: readonly KnownMistake[] = [
  {
    what: 'lets finalizers be added to what is being deleted',
    rules: { refusalOf: () => undefined },
    noticedBy: 'finalizers can be added to a live object, not to one that is being deleted',
  },
  {
    what: 'raises no version',
    rules: { versionAfter: (version) => version },
    noticedBy: 'an object with finalizers is marked, and a second deletion changes nothing',
  },
  {
    what: 'tells of a deletion without the finalizers that were there',
    rules: {
      lastWordOn(before, version) {
        const { metadata, ...fields } = lastWordOn(before, version);
        const { finalizers: _, ...others } = metadata;
        return { ...fields, apiVersion: before.apiVersion, kind: before.kind, metadata: others };
      },
    },
    noticedBy: 'the word that an object is gone carries its last version, and what it carried before that',
  },
  {
    what: 'keeps lists with nothing in them',
    rules: { tidied: (object) => object },
    noticedBy: 'an empty list of finalizers is none',
  },
  {
    what: 'counts no generation for a deletion',
    rules: {
      counted: (kind, before, after) =>
        before !== undefined && after.metadata.deletionTimestamp !== before.metadata.deletionTimestamp
          ? after
          : counted(kind, before, after),
    },
    noticedBy: 'a generation counts the changes of a spec, and its deletion',
  },
  {
    what: 'lets the status of a rule be written past its own resource',
    rules: { keepingStatus: (_kind, _before, after) => after },
    noticedBy: 'the status of a rule is written through its own resource only, and nothing else through that',
  },
  {
    what: 'passes every test of a patch',
    Server: PassesTests,
    noticedBy: 'a test of uid, version or value that fails changes nothing, and is told from success alone',
  },
  {
    what: 'loses an event of each history that is read',
    Server: ForgetsAnEvent,
    noticedBy: 'a watch from a version goes on behind it, and misses nothing',
  },
  {
    what: 'takes what waits for finalizers away at a second deletion',
    Server: GoesAtTheSecond,
    noticedBy: 'an object with finalizers is marked, and a second deletion changes nothing',
  },
  {
    what: 'shows in each page of a list what is there by then',
    Server: ListsThePresent,
    noticedBy: 'all pages of a list show the moment of the first',
  },
  {
    what: 'puts no entry on at birth',
    hasPolicy: false,
    noticedBy: 'what a rule selects is born with its entry, at the end of the list, once',
  },
  {
    what: 'takes what a policy refuses',
    hasGuard: false,
    noticedBy:
      'a write that a policy refuses changes nothing, has the status of its reason, and is taken once the policy is gone',
  },
  {
    what: 'asks a policy before it looks at the object',
    guardsFirst: true,
    noticedBy: ASKED,
  },
  {
    what: 'asks no policy about a patch that changes nothing',
    Server: AsksNobodyAboutNothing,
    noticedBy: ASKED,
  },
  {
    what: 'stores objects of any size',
    rules: { storedRefusal: () => undefined },
    noticedBy: 'an object has a size beyond which every write of it fails, and its entry comes off all the same',
  },
  {
    what: 'calls an object too large that it cannot store',
    rules: { storedRefusal: (object) => (storedRefusal(object) === undefined ? undefined : 413) },
    noticedBy: 'an object has a size beyond which every write of it fails, and its entry comes off all the same',
  },
  {
    what: 'does a call that is one too many',
    excess: { kind: 'answer', side: 'after', status: 429, retryAfter: 1_000 },
    noticedBy: EXCESS,
  },
  {
    what: 'does not say when to come back',
    excess: { kind: 'answer', side: 'before', status: 429 },
    noticedBy: EXCESS,
  },
  {
    what: 'is silent to a call that is one too many',
    excess: { kind: 'error', side: 'before' },
    noticedBy: EXCESS,
  },
  ...rightsMistakes,
];
