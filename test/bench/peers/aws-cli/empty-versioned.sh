# `aws s3 rb --force` deletes no versions: for a versioned bucket AWS's advice is list-object-versions and delete-objects, by
# turns, since one call takes a thousand. usage: sh empty-versioned.sh PYTHON BUCKET FOLDER
set -eu
python=$1 bucket=$2 page=$3/page.json
query='{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}, Quiet: `true`}'
while :; do
  "$python" -m awscli s3api list-object-versions --bucket "$bucket" --max-items 1000 --query "$query" --output json > "$page"
  grep -q '"Key"' "$page" || break
  "$python" -m awscli s3api delete-objects --bucket "$bucket" --delete "file://$page"
done
"$python" -m awscli s3api delete-bucket --bucket "$bucket"
