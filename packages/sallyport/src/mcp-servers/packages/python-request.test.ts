import { expect, test } from 'vitest';
import { pythonRequest } from './python-request.ts';

test('REG-02.1 a package of an index may have extras, versions and an epoch', () => {
  for (const spec of ['mcp-server-git', 'a[x,y]>=1!2.0,<3, !=2.5,~=2.1', 'a==1.*', 'a===1.0'])
    expect(pythonRequest('uvx', [spec])?.spec).toBe(spec);
});

test('REG-02.1 what is no package is refused, and in time', () => {
  for (const spec of ['a=1', 'git+https://a.test/b', `a${'!1'.repeat(40)}?`, `a>=1${'!1'.repeat(40)}`])
    expect(() => pythonRequest('uvx', [spec]), spec).toThrow(expect.objectContaining({ code: 'E3801' }));
});
