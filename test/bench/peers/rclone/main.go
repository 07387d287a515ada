// rclone as its own main package makes it, with S3 as the one storage and the commands that empty a bucket: measured beside
// the handler s3-bucket. The other storages would only make the build longer.
package main

import (
	_ "github.com/rclone/rclone/backend/s3"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/backend"
	_ "github.com/rclone/rclone/cmd/purge"
	_ "github.com/rclone/rclone/cmd/version"
)

func main() {
	cmd.Main()
}
