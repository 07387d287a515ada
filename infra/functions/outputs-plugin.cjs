/*
 * A plug-in of the framework, named in serverless.yml: the command `outputs`, and the same after each deployment, writes the
 * outputs of the stack to .serverless/outputs.json, with the credentials, profile and region that the framework works with.
 * ../stack.ts reads them from there, for the chart's values, the bridge's policy, and a look into the queues before removal.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** The framework's own client: what it deploys with can also describe what it deployed. */
const sdk = require.resolve('@aws-sdk/client-cloudformation', {
  paths: [dirname(require.resolve('serverless/package.json'))],
});

module.exports = class OutputsPlugin {
  constructor(serverless, _options, { log }) {
    this.provider = serverless.getProvider('aws');
    this.file = join(serverless.serviceDir, '.serverless', 'outputs.json');
    this.log = log;
    this.commands = {
      outputs: { usage: 'Writes the outputs of the stack to .serverless/outputs.json', lifecycleEvents: ['write'] },
    };
    const write = () => this.write();
    this.hooks = { 'outputs:write': write, 'after:deploy:deploy': write };
  }

  async write() {
    const { CloudFormationClient, DescribeStacksCommand } = require(sdk);
    const client = new CloudFormationClient(await this.provider.getAwsSdkV3Config());
    const StackName = this.provider.naming.getStackName();
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    client.destroy();
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, `${JSON.stringify({ Stacks }, null, 2)}\n`);
    this.log.notice(`Outputs of ${StackName} are in .serverless/outputs.json`);
  }
};
