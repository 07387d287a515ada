/*
 * What is read of whatever a call threw: its code, its status, the region that it names, and whether a look is worth repeating.
 * What each code means is in aws-errors.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { classify, classifyCode, isTransient } from '../../functions/aws-errors.ts';

/** What the SDK throws for an answer with this code. */
const serviceError = (code: string, httpStatusCode: number) =>
  Object.assign(new Error('a message that nothing reads'), { name: code, $metadata: { httpStatusCode } });

describe('a look', () => {
  it.each([
    ['SlowDown', 503, true],
    ['Whatever', 500, true],
    ['ECONNRESET', 0, true],
    ['Whatever', 408, true],
    ['AccessDenied', 403, false],
    ['ExpiredToken', 400, false],
    ['Whatever', 400, false],
  ])('%s with status %i is repeated within a run: %s', (code, status, isRepeated) => {
    expect(isTransient(classify('any:Call', serviceError(code, status)))).toBe(isRepeated);
  });

  it('repeats nothing that has another meaning, whatever its reason', () => {
    expect(isTransient({ means: 'refused', reason: 'Throttled' })).toBe(false);
    expect(isTransient({ means: 'gone', reason: 'Unreachable' })).toBe(false);
  });
});

describe('what an error says of itself', () => {
  const withCause = (name: string, code: unknown) => Object.assign(new Error('x', { cause: { code } }), { name });

  it('is its code, before the one that AWS writes large, before its name', () => {
    const all = { code: 'SlowDown', Code: 'AccessDenied', name: 'ExpiredToken' };
    expect(classify('any:Call', all).code).toBe('SlowDown');
    expect(classify('any:Call', { ...all, code: undefined })).toMatchObject({ code: 'AccessDenied' });
    expect(classify('any:Call', { name: all.name })).toMatchObject({ reason: 'CredentialsInvalid' });
  });

  it.each(['', 'Error', 'UnknownError', 'Unknown'])(
    'is not "%s", which the SDK makes up where there is no code',
    (nothing) => {
      expect(classify('any:Call', { code: nothing, name: 'SlowDown' }).code).toBe('SlowDown');
      expect(classify('any:Call', { code: nothing, name: nothing }).code).toBe('Unknown');
    },
  );

  it('is the code below a TypeError, by which fetch says that the network failed, and of no other error', () => {
    expect(classify('any:Call', withCause('TypeError', 'ECONNREFUSED'))).toMatchObject({
      ...{ means: 'again', reason: 'Unreachable', code: 'ECONNREFUSED' },
    });
    expect(classify('any:Call', withCause('SlowDown', 'ECONNREFUSED'))).toMatchObject({ reason: 'Throttled' });
    expect(classify('any:Call', withCause('TypeError', 7)).code).toBe('TypeError');
  });

  it('is a status only where that is a number', () => {
    const said = (httpStatusCode: unknown) => classify('any:Call', { name: 'X', $metadata: { httpStatusCode } });
    expect(said(503)).toMatchObject({ status: 503, reason: 'ServiceError' });
    expect(said('503')).toMatchObject({ status: undefined, reason: 'UnexpectedError' });
  });

  it.each([
    [301, 'eu-west-1', 'elsewhere', 'RegionMismatch'],
    [307, 'eu-west-1', 'elsewhere', 'RegionMismatch'],
    [400, 'eu-west-1', 'again', 'UnexpectedError'],
    [404, 'eu-west-1', 'again', 'UnexpectedError'],
    [301, '', 'again', 'UnexpectedError'],
    [301, 7, 'again', 'UnexpectedError'],
  ])('with status %i and the region "%s" means %s, as %s (C5)', (status, region, means, reason) => {
    const $response = { headers: { 'x-amz-bucket-region': region } };
    const fault = classify('s3:GetBucketTagging', Object.assign(serviceError('Unknown', status), { $response }), {});
    expect(fault).toMatchObject({ means, reason });
    expect(fault.region).toBe(region === 'eu-west-1' ? region : undefined);
  });

  it('that a row calls absent proves that without a status as well, as in an answer that lists errors', () => {
    const own = { 'x:Call': { Nothing: { means: 'absent', reason: 'Nothing' } } } as const;
    expect(classify('x:Call', { name: 'Nothing' }, own)).toMatchObject({ means: 'absent', status: undefined });
    expect(classify('x:Call', serviceError('Nothing', 404), own).means).toBe('absent');
  });
});

it('has a handler’s rows for every call count in answers that list errors, before the general ones', () => {
  const own = { '*': { SlowDown: { means: 'refused', reason: 'Full' } } } as const;
  expect(classifyCode('x:Call', 'SlowDown', own)).toEqual({
    ...{ means: 'refused', reason: 'Full', call: 'x:Call', code: 'SlowDown' },
  });
  expect(classifyCode('x:Call', 'SlowDown')).toMatchObject({ means: 'again', reason: 'Throttled' });
});
